// Compares what one forward costs with cached rows and when both streams are recomputed whole, as
// the authors' code does, by decoding either way; and measures what the loop and the trace add to
// it.
#include "experiments/bench/bench.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

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

std::vector<std::string> cells(const char* name, const Spread& spread, double positions) {
  return {name, std::to_string(spread.count), fixed(spread.mean, 4), fixed(spread.deviation, 4),
          fixed(positions, 1)};
}

// "f32, threads 1"
std::string how_computed(const Composition& composition) {
  return std::string(word(composition.run.machine.dtype)) + ", threads " +
         std::to_string(composition.run.machine.threads);
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
int bench_loop(const BenchFlags& flags, const CommandLine& line, const Registries& registries) {
  BenchOptions options = bench_options<BenchOptions>(line);
  TextTable table{{"model", "steps", "evaluations", "share of a step, %", "us a step"}, {}};
  nlohmann::json numbers = nlohmann::json::array();
  std::string how;
  for (const char* shape : {"6x128x1000", "8x512x8000", "12x768x32000"}) {
    options.shape = shape;
    const auto [row, composition] = decode(options, {}, line, registries);
    std::vector<double> percent, micros;
    for (const StepRow& step : row.steps) {
      const double own = static_cast<double>(step.ns - step.counts.ns());
      percent.push_back(100 * own / static_cast<double>(step.ns));
      micros.push_back(1e-3 * own);
    }
    const Quartiles share(percent), time(micros);
    table.rows.push_back({shape, std::to_string(row.steps.size()), std::to_string(row.counts.nfe()),
                          share.text(2), time.text(1)});
    numbers.push_back({{"shape", shape},
                       {"steps", row.steps.size()},
                       {"evaluations", row.counts.nfe()},
                       {"percent", share.json()},
                       {"microseconds", time.json()}});
    how = how_computed(composition);
  }
  flags.print("Time outside the model, any-subset speculative decoding of " +
                  std::to_string(options.length) + " positions, " + how +
                  ": medians over steps [quartiles]",
              table);
  flags.write(numbers);
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
  flags.print("any-subset " + options.shape + ", " + std::to_string(options.length) +
                  " positions, " + std::to_string(cached.prompt_tokens) +
                  " given, k = " + std::to_string(composition.decode.draft_length) + ", " +
                  how_computed(composition),
              {{"a function evaluation", "forwards", "s each", "standard deviation", "rows each"},
               {cells("cached rows", with, rows_each(cached.counts)),
                cells("both streams whole", without, rows_each(whole.counts))}});
  flags.print(
      "What that comes to",
      {{"what", "measured"},
       {{"both streams whole over cached rows",
         fixed(ratio, 1) + " (standard error " + fixed(error, 1) + ")"},
        {"the loop outside the model, of the cached decode",
         fixed(100 * cached.own_seconds / cached.seconds, 2) + " %"},
        {"its trace, of the cached decode", fixed(100 * recording / cached.seconds, 2) + " %"}}});
  flags.write({{"shape", options.shape},
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
               {"trace_share", recording / cached.seconds}});
  return 0;
}

// A benchmark that composes no config takes no key of one.
void refuse_keys(const CommandLine& line) {
  for (const auto& [key, value] : line.overrides)
    if (!key.starts_with("bench."))
      throw UsageError("bench {} has no option --{}", line.paths[0], key);
}

int bench(const BenchFlags& flags, const CommandLine& line, const Registries& registries) {
  const std::string which = line.paths.empty() ? "any-subset" : line.paths[0];
  if (which == "batch" && line.paths.size() == 2) return bench_batch(flags, line, registries);
  if (which == "model") return bench_model(flags, line, registries);
  if (which == "rows") return bench_rows(flags, line, registries);
  if (which == "checkpoint") return bench_checkpoint(flags, line);
  if (which == "loop" && line.paths.size() == 1) return bench_loop(flags, line, registries);
  if ((which == "trace" || which == "wire") && line.paths.size() == 1) {
    refuse_keys(line);
    return which == "trace" ? bench_trace(flags, line) : bench_wire(flags, line);
  }
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
