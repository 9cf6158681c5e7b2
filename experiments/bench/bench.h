// The command `draftlab bench` and its benchmarks.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/table.h"
#include "core/config/composition.h"
#include "core/config/config.h"
#include "core/config/options.h"
#include "experiments/command/command.h"

namespace draftlab {

Command bench_command();

struct BenchFlags {
  std::string out;
  TableForm format = TableForm::text;
  void declare(OptionSet& set) {
    set.add("out", &out).help("File for the numbers, as JSON.");
    set.add("format", &format).help("Tables as aligned text or in Markdown.");
  }
  // Prints a table below its title: one line that says what was measured, and how.
  void print(const std::string& title, const TextTable& table) const;
  // Writes the numbers into the file that --out names, if it names one.
  void write(const nlohmann::json& numbers) const;
};

// The median and the quartiles of measurements, of which there is one or more.
class Quartiles {
 public:
  explicit Quartiles(std::vector<double> values);
  double median() const { return at(2); }
  // "0.64 [0.61, 0.70]": the median and the quartiles between, with so many digits.
  std::string text(int digits) const;
  nlohmann::json json() const;

 private:
  double at(std::size_t quarter) const;
  std::vector<double> sorted_;
};

// `draftlab bench batch CONFIG` prints tokens a second against batch size.
int bench_batch(const BenchFlags& flags, const CommandLine& line, const Registries& registries);

// `draftlab bench model FOLDER|SHAPE` prints seconds, operations and bytes of a model's passes.
int bench_model(const BenchFlags& flags, const CommandLine& line, const Registries& registries);

// `draftlab bench checkpoint SHAPE FOLDER` writes a checkpoint of random weights.
int bench_checkpoint(const BenchFlags& flags, const CommandLine& line);

// `draftlab bench rows [SHAPE...]` prints what one to sixteen rows cost in every precision.
int bench_rows(const BenchFlags& flags, const CommandLine& line, const Registries& registries);

// `draftlab bench trace` prints how fast a trace is written, merged and read, and what it takes on
// disk.
int bench_trace(const BenchFlags& flags, const CommandLine& line);

// `draftlab bench wire` prints what a part or a model of another process costs beyond its own time.
int bench_wire(const BenchFlags& flags, const CommandLine& line);

// What a config of a benchmark says: a text, and settings that the command line cannot know.
struct BenchConfig {
  std::string text;
  std::vector<Config::Entry> settings;
};

// Composes the config with the options of the command line that are not a benchmark's own; these
// win over both. Throws ConfigError where something is wrong.
Composition compose_bench(const BenchConfig& config, const CommandLine& line,
                          const Registries& registries);

// Returns the name of a temporary file or folder of this process.
std::string temporary_name(const std::string& ending);

// Reads a benchmark's own options from --bench.KEY. Throws ConfigError where one is wrong.
template <class Options>
Options bench_options(const CommandLine& line) {
  Diagnostics diagnostics;
  Config own = Config::parse("", "bench", diagnostics);
  for (const auto& [key, value] : line.overrides)
    if (key.starts_with("bench.")) own.set({key, value, "--" + key});
  Options options;
  OptionSet set;
  options.declare(set);
  set.read(own, "bench", diagnostics);
  diagnostics.raise();
  return options;
}

}  // namespace draftlab
