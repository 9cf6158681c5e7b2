// Compares what one forward costs with cached rows and when both streams are recomputed whole, as
// the authors' code does, by decoding either way; and measures what the loop and the trace add to
// it.
#include "experiments/bench/bench.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/config/composition.h"
#include "core/loop/decoder.h"
#include "core/trace/provenance.h"
#include "core/trace/trace_file.h"

namespace draftlab {
namespace {

struct BenchOptions {
  std::string shape = "12x768x32000";
  std::int64_t length = 512;
  double prompt = 0.05;
  std::int64_t whole = 6;
  void declare(OptionSet& set) {
    set.add("shape", &shape)
        .help("LAYERSxWIDTHxVOCABULARY of the random network; the default is XLNet-base.");
    set.add("length", &length).in(2, 16384).help("Positions of the canvas.");
    set.add("prompt", &prompt).in(0, 1).help("Share of the positions that is given, scattered.");
    set.add("whole", &whole)
        .in(1, 100000)
        .help(
            "Forwards to time where both streams are recomputed whole; cached ones decode the "
            "canvas to its end.");
  }
};

struct Spread {
  std::int64_t count = 0;
  double mean = 0, deviation = 0;
  explicit Spread(const std::vector<double>& values)
      : count(static_cast<std::int64_t>(values.size())) {
    for (const double value : values) mean += value / static_cast<double>(count);
    for (const double value : values) deviation += (value - mean) * (value - mean);
    deviation = count > 1 ? std::sqrt(deviation / static_cast<double>(count - 1)) : 0;
  }
  double error() const { return deviation / std::sqrt(static_cast<double>(count)); }
};

// Returns the seconds of each forward, in the order in which they were asked.
std::vector<double> seconds(const std::vector<StepRow>& steps) {
  std::vector<double> all;
  for (const StepRow& step : steps) {
    for (const Kind kind : {Kind::draft, Kind::verify}) {
      const Count& count = step.counts[kind];
      if (count.calls > 0)
        all.push_back(1e-9 * static_cast<double>(count.ns) / static_cast<double>(count.calls));
    }
  }
  return all;
}

// Makes given positions and tokens by a counter, so that they are the same for every run.
Prompt make_prompt(const BenchOptions& options, int vocabulary) {
  Prompt prompt;
  prompt.id = "bench";
  prompt.length = static_cast<int>(options.length);
  const auto given =
      std::max<std::int64_t>(1, std::llround(options.prompt * static_cast<double>(options.length)));
  for (std::int64_t i = 0; i < given; ++i) {
    const auto position = static_cast<std::int32_t>(i * options.length / given);
    const double u = SampledChance::uniform(
        1, {.sequence = 0, .position = position, .purpose = Purpose::prompt});
    prompt.given.emplace_back(
        position, 10 % vocabulary + static_cast<Token>(u * std::max(1, vocabulary - 10)));
  }
  return prompt;
}

// Measures the seconds that recording a decode takes.
double trace_seconds(const SampleRow& row, const Composition& composition) {
  const std::string path = temporary_name(".h5");
  const auto began = std::chrono::steady_clock::now();
  {
    RunRow run;
    run.id = composition.id;
    TraceWriter writer(path, {provenance(composition.run.machine, composition.run.seed), {run}},
                       composition.trace, false);
    writer.sample(row);
    writer.close();
  }
  const double taken =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::filesystem::remove(path);
  return taken;
}

void print(const char* name, const Spread& spread, double positions) {
  std::printf("  %-24s %6lld forwards  %8.4f s each, standard deviation %7.4f  %7.1f rows each\n",
              name, static_cast<long long>(spread.count), spread.mean, spread.deviation, positions);
}

double rows_each(const Counts& counts) {
  const double positions =
      static_cast<double>(counts[Kind::draft].positions + counts[Kind::verify].positions);
  return positions / static_cast<double>(std::max<std::int64_t>(1, counts.nfe()));
}

// How a canvas is decoded: whether rows are cached, and after how many evaluations it ends, if its
// canvas does not.
struct DecodeMode {
  bool incremental = true;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

// Decodes the canvas of a random network.
std::pair<SampleRow, Composition> decode(const BenchOptions& options, const DecodeMode& mode,
                                         const CommandLine& line, const Registries& registries) {
  const Composition composition = compose_bench(
      {.text = "model = any-subset\ndrafter = self\nverifier = chain\ntask = positions\n"
               "[task.positions]\nlength = 2\nprompt = 0:1\n",
       .settings = {{"model.any-subset.random", options.shape, "--bench.shape"},
                    {"model.any-subset.incremental", mode.incremental ? "true" : "false",
                     "bench"}}},
      line, registries);
  Loaded loaded;
  const Models models = load_models(composition, composition.run.machine, loaded);
  const Prompt prompt = make_prompt(options, models.target().facts().vocabulary);
  SampledChance chance(1);
  Decoder decoder(composition, models, prompt, {chance, 1});
  const auto began = std::chrono::steady_clock::now();
  while (decoder.nfe() < mode.most && drive(models, decoder, decoder.step())) {}
  SampleRow row = decoder.row();
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  row.generated = row.valid = decoder.canvas().committed();
  row.counts = decoder.sequence(0).counts();
  row.status = "done";
  return {row, composition};
}

// Prints which share of a decode is spent outside the model, for three sizes of it. The share is
// the median over steps, because of other work that interrupts some of them.
int bench_loop(const CommandLine& line, const Registries& registries) {
  BenchOptions options = bench_options<BenchOptions>(line);
  std::printf("any-subset speculative decoding of %lld positions: time outside the model\n",
              static_cast<long long>(options.length));
  for (const char* shape : {"6x128x1000", "8x512x8000", "12x768x32000"}) {
    options.shape = shape;
    const SampleRow row = decode(options, {}, line, registries).first;
    std::vector<double> shares, micros;
    for (const StepRow& step : row.steps) {
      const double own = static_cast<double>(step.ns - step.counts.ns());
      shares.push_back(own / static_cast<double>(step.ns));
      micros.push_back(1e-3 * own);
    }
    const auto quarter = [](std::vector<double>& values, std::size_t quarters) {
      std::sort(values.begin(), values.end());
      return values[quarters * (values.size() - 1) / 4];
    };
    std::printf(
        "  %-14s %5zu steps, %5lld evaluations: %6.2f %% [%.2f, %.2f], %7.1f us a step [%.1f, "
        "%.1f]\n",
        shape, shares.size(), static_cast<long long>(row.counts.nfe()), 100 * quarter(shares, 2),
        100 * quarter(shares, 1), 100 * quarter(shares, 3), quarter(micros, 2), quarter(micros, 1),
        quarter(micros, 3));
  }
  std::printf("medians and quartiles over steps\n");
  return 0;
}

int bench_any_subset(const BenchFlags& flags, const CommandLine& line,
                     const Registries& registries) {
  const BenchOptions options = bench_options<BenchOptions>(line);

  const auto [cached, composition] = decode(options, {}, line, registries);
  const SampleRow whole =
      decode(options, {.incremental = false, .most = options.whole}, line, registries).first;

  const Spread with(seconds(cached.steps)), without(seconds(whole.steps));
  const double ratio = without.mean / with.mean;
  const double error = ratio * std::hypot(with.error() / with.mean, without.error() / without.mean);
  const double recording = trace_seconds(cached, composition);
  std::printf("any-subset %s, %lld positions, %lld given, k = %lld, %s, threads %d\n",
              options.shape.c_str(), static_cast<long long>(options.length),
              static_cast<long long>(cached.prompt_tokens),
              static_cast<long long>(composition.decode.draft_length),
              word(composition.run.machine.dtype).data(), composition.run.machine.threads);
  print("cached rows", with, rows_each(cached.counts));
  print("both streams whole", without, rows_each(whole.counts));
  std::printf("  ratio %.1f (standard error %.1f)\n", ratio, error);
  std::printf("  the loop outside the model: %.2f %% of the cached decode; its trace: %.2f %%\n",
              100 * cached.own_seconds / cached.seconds, 100 * recording / cached.seconds);
  if (!flags.out.empty()) {
    const nlohmann::json numbers{{"shape", options.shape},
                                 {"length", options.length},
                                 {"prompt_tokens", cached.prompt_tokens},
                                 {"draft_length", composition.decode.draft_length},
                                 {"dtype", word(composition.run.machine.dtype)},
                                 {"threads", composition.run.machine.threads},
                                 {"cached_forwards", with.count},
                                 {"cached_seconds", with.mean},
                                 {"cached_deviation", with.deviation},
                                 {"whole_forwards", without.count},
                                 {"whole_seconds", without.mean},
                                 {"whole_deviation", without.deviation},
                                 {"ratio", ratio},
                                 {"ratio_error", error},
                                 {"own_share", cached.own_seconds / cached.seconds},
                                 {"trace_share", recording / cached.seconds}};
    write_whole(flags.out, numbers.dump(2) + "\n");
  }
  return 0;
}

int bench(const BenchFlags& flags, const CommandLine& line, const Registries& registries) {
  const std::string which = line.paths.empty() ? "any-subset" : line.paths[0];
  if (which == "batch" && line.paths.size() == 2) return bench_batch(flags, line, registries);
  if (which == "model") return bench_model(flags, line, registries);
  if (which == "rows") return bench_rows(flags, line, registries);
  if (which == "checkpoint") return bench_checkpoint(line);
  if (which == "loop" && line.paths.size() == 1) return bench_loop(line, registries);
  if (which == "trace" && line.paths.size() == 1) return bench_trace(line);
  if (which == "wire" && line.paths.size() == 1) return bench_wire(line);
  if (which == "any-subset" && line.paths.size() <= 1)
    return bench_any_subset(flags, line, registries);
  throw UsageError("usage: draftlab bench {}", bench_command().arguments);
}

}  // namespace

Composition compose_bench(const BenchConfig& own, const CommandLine& line,
                          const Registries& registries) {
  Diagnostics diagnostics;
  Config config = Config::parse(own.text, "bench", diagnostics);
  for (const Config::Entry& entry : own.settings) config.set(entry);
  for (const auto& [key, value] : line.overrides)
    if (!key.starts_with("bench.")) config.set({key, value, "--" + key});
  Composition composition = compose(config, registries, diagnostics);
  diagnostics.raise();
  return composition;
}

std::string temporary_name(const std::string& ending) {
  return (std::filesystem::temp_directory_path() /
          ("draftlab-bench-" + std::to_string(::getpid()) + ending))
      .string();
}

Command bench_command() {
  return {
      .name = "bench",
      .arguments =
          "[any-subset | batch CONFIG | model FOLDER|SHAPE | rows [SHAPE...] | checkpoint SHAPE "
          "FOLDER | loop | trace | wire]",
      .summary =
          "the benchmarks: cached rows; tokens per second against batch size; a model's passes "
          "against what the machine can do; one to sixteen rows in every precision; random "
          "weights in a published shape; the loop's share; writing and merging a trace; a part "
          "of another process",
      .fewest = 0,
      .most = kAnyNumber,
      .takes_config = true,
      .flags = with_flags(bench)};
}

}  // namespace draftlab
