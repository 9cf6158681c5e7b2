// Measures what one to sixteen rows cost in each precision, with random weights of three sizes: the
// question of parallel decoding is how much cheaper a row is beside others than alone.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/config/composition.h"
#include "core/loop/load_models.h"
#include "experiments/bench/bench.h"
#include "plugins/models/bench/random_checkpoint.h"

namespace draftlab {
namespace {

using Json = nlohmann::json;

struct RowsBenchOptions {
  std::int64_t prompt = 32, times = 15;
  void declare(OptionSet& set) {
    set.add("prompt", &prompt).in(1, 1 << 16).help("Cached tokens that every row attends.");
    set.add("times", &times).in(3, 10000).help("Rounds; each measures every precision in turn.");
  }
};

constexpr const char* kPrecisions[] = {"f32", "bf16", "q8", "q4"};
constexpr std::int64_t kRows[] = {1, 2, 4, 8, 16};
constexpr std::int64_t kMost = 16;

// Process time is what this program was given of a machine that others use, too.
double process_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Quartiles {
  double low, median, high;
  explicit Quartiles(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t last = values.size() - 1;
    low = values[last / 4], median = values[last / 2], high = values[last - last / 4];
  }
  Json json() const { return {low, median, high}; }
};

// Asks `rows` rows: the last token of the prompt, and drafts behind it.
Question path(std::int64_t prompt, std::int64_t rows, std::int64_t vocabulary, std::int64_t round) {
  Question question{.kind = Kind::verify, .view = View::causal, .nodes = {}, .asks = {}};
  for (int i = 0; i < rows; ++i) {
    const auto position = static_cast<std::int32_t>(prompt + i);
    question.asks.push_back({i - 1, {position}});
    if (i + 1 < rows)
      question.nodes.push_back(
          {i - 1, position, static_cast<Token>((17 * i + 5 * round + 3) % vocabulary)});
  }
  return question;
}

std::shared_ptr<Model> loaded(const std::string& folder, const std::string& dtype,
                              const CommandLine& line, const Registries& registries) {
  Faults faults;
  Config config = Config::parse(
      "model = autoregressive\ndrafter = stepwise\nfrontier = left-to-right\ntask = "
      "positions\n[task.positions]\nlength = 2\nprompt = 0:1\n[run]\nthreads = 1\n",
      "bench", faults);
  config.set({"model.autoregressive.checkpoint", folder, "bench"});
  for (const auto& [key, value] : line.overrides)
    if (key.rfind("bench.", 0) != 0) config.set({key, value, "--" + key});
  config.set({"run.dtype", dtype, "bench"});
  const Composition composition = compose(config, registries, faults);
  faults.raise();
  Loaded models;
  return load_models(composition, composition.run.machine, models).models[0];
}

double seconds_of(Model& model, Sequence& sequence, const Question& question, std::int64_t rows) {
  const std::int64_t before = sequence.counts()[Kind::verify].positions;
  const double began = process_seconds();
  Answer answer;
  Pending pending{&sequence, &question, &answer};
  model.answer({&pending, 1});
  const double taken = process_seconds() - began;
  if (sequence.counts()[Kind::verify].positions - before != rows)
    throw Fault("the forward had other rows than the benchmark counts");
  return taken;
}

Json bench_size(const std::string& size, const RowsBenchOptions& options, const CommandLine& line,
                const Registries& registries) {
  const std::string folder = (std::filesystem::temp_directory_path() /
                              ("draftlab-bench-" + std::to_string(::getpid()) + "-" + size))
                                 .string();
  write_published_config(size, folder);
  write_random_weights(folder, ElementType::f32);
  std::vector<std::shared_ptr<Model>> models;
  for (const char* dtype : kPrecisions) models.push_back(loaded(folder, dtype, line, registries));
  std::filesystem::remove_all(folder);

  const ModelFacts facts = models[0]->facts();
  std::vector<std::pair<std::int32_t, Token>> given;
  for (std::int64_t i = 0; i < options.prompt; ++i)
    given.emplace_back(static_cast<std::int32_t>(i),
                       static_cast<Token>((i * 7919 + 11) % facts.vocabulary));
  const Canvas canvas(static_cast<int>(options.prompt + kMost), given);
  std::vector<std::unique_ptr<Sequence>> sequences;
  for (const auto& model : models) {
    sequences.push_back(model->open(canvas, {}));
    // The prompt's rows are cached from here on.
    seconds_of(*model, *sequences.back(), path(options.prompt, 1, facts.vocabulary, 0),
               options.prompt);
  }
  std::vector<std::vector<std::vector<double>>> seconds(
      std::size(kPrecisions), std::vector<std::vector<double>>(std::size(kRows)));
  for (std::int64_t round = 0; round < options.times; ++round) {
    for (std::size_t r = 0; r < std::size(kRows); ++r) {
      const Question question = path(options.prompt, kRows[r], facts.vocabulary, round + 1);
      for (std::size_t p = 0; p < std::size(kPrecisions); ++p)
        seconds[p][r].push_back(seconds_of(*models[p], *sequences[p], question, kRows[r]));
    }
  }

  std::printf("%s: %.1f million parameters, %lld rounds, process time in ms [quartiles]\n",
              size.c_str(), 1e-6 * static_cast<double>(facts.parameters),
              static_cast<long long>(options.times));
  std::printf("  %-5s", "rows");
  for (const std::int64_t rows : kRows) std::printf(" %24lld", static_cast<long long>(rows));
  std::printf(" %20s\n", "8 rows over 1");
  Json out{{"shape", size}, {"parameters", facts.parameters}};
  for (std::size_t p = 0; p < std::size(kPrecisions); ++p) {
    std::printf("  %-5s", kPrecisions[p]);
    for (std::size_t r = 0; r < std::size(kRows); ++r) {
      const Quartiles own(seconds[p][r]);
      std::printf(" %8.3f [%6.2f, %6.2f]", 1e3 * own.median, 1e3 * own.low, 1e3 * own.high);
      out[kPrecisions[p]]["seconds"][std::to_string(kRows[r])] = own.json();
    }
    std::vector<double> ratios;
    for (std::int64_t i = 0; i < options.times; ++i)
      ratios.push_back(seconds[p][3][i] / seconds[p][0][i]);
    const Quartiles ratio(ratios);
    std::printf("  %5.2f [%5.2f, %5.2f]\n", ratio.median, ratio.low, ratio.high);
    out[kPrecisions[p]]["eight_over_one"] = ratio.json();
  }
  std::fflush(stdout);
  return out;
}

}  // namespace

int bench_rows(const BenchFlags& flags, const CommandLine& line, const Registries& registries) {
  const RowsBenchOptions options = bench_options<RowsBenchOptions>(line);
  std::vector<std::string> sizes(line.paths.begin() + 1, line.paths.end());
  if (sizes.empty()) sizes = {"qwen3-3m", "qwen3-24m", "qwen3-110m"};
  Json out = Json::array();
  for (const std::string& size : sizes) out.push_back(bench_size(size, options, line, registries));
  if (!flags.out.empty()) write_whole(flags.out, out.dump(2) + "\n");
  return 0;
}

}  // namespace draftlab
