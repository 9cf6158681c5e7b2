// `draftlab bench`: the benchmarks.
#pragma once

#include "core/plugin.h"
#include "experiments/command_line.h"

namespace draftlab {

// Tokens a second against batch size: `draftlab bench batch CONFIG`.
int bench_batch(const CommandLine& line, const Registries& registries);

// Seconds, operations and bytes of a model's passes: `draftlab bench model FOLDER|SHAPE`.
int bench_model(const CommandLine& line, const Registries& registries);
// A checkpoint of random weights: `draftlab bench checkpoint SHAPE FOLDER`.
int bench_checkpoint(const CommandLine& line);

int bench(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
