// `draftlab bench`: the benchmarks.
#pragma once

#include "core/base/error.h"
#include "core/config/config.h"
#include "core/config/options.h"
#include "core/config/plugin.h"
#include "experiments/arm/command_line.h"

namespace draftlab {

// Tokens a second against batch size: `draftlab bench batch CONFIG`.
int bench_batch(const CommandLine& line, const Registries& registries);

// Seconds, operations and bytes of a model's passes: `draftlab bench model FOLDER|SHAPE`.
int bench_model(const CommandLine& line, const Registries& registries);
// A checkpoint of random weights: `draftlab bench checkpoint SHAPE FOLDER`.
int bench_checkpoint(const CommandLine& line);

// How fast a trace is written, merged and read, and what it takes on disk: `draftlab bench trace`.
int bench_trace(const CommandLine& line);

int bench(const CommandLine& line, const Registries& registries);

// What --bench.KEY says of a benchmark's own options; ConfigError where one is wrong.
template <class Options>
Options bench_options(const CommandLine& line) {
  Faults faults;
  Config own = Config::parse("", "bench", faults);
  for (const auto& [key, value] : line.overrides)
    if (key.starts_with("bench.")) own.set({key, value, "--" + key});
  Options options;
  OptionSet set;
  options.declare(set);
  set.read(own, "bench", faults);
  faults.raise();
  return options;
}

}  // namespace draftlab
