// Measures what one to sixteen rows cost in each precision, with random weights of three sizes: the
// question of parallel decoding is how much cheaper a row is beside others than alone. Each time is
// set beside what the machine needs at least, to read the weights or to multiply them. With
// --bench.llama the same rows of the same weights are answered by llama.cpp, in turn.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/files.h"
#include "experiments/bench/bench.h"
#include "experiments/bench/row_programs.h"
#include "plugins/models/bench/machine_speed.h"
#include "plugins/models/bench/random_checkpoint.h"

namespace draftlab {
namespace {

using Json = nlohmann::json;

struct RowsBenchOptions {
  std::int64_t prompt = 32, times = 15;
  std::string llama;
  void declare(OptionSet& set) {
    set.add("prompt", &prompt).in(1, 1 << 16).help("Cached tokens that every row attends.");
    set.add("times", &times).in(3, 10000).help("Rounds; each measures every precision in turn.");
    set.add("llama", &llama)
        .help("File of llama.cpp's library (libllama.so); it answers the same rows, one thread.");
  }
};

constexpr const char* kPrecisions[] = {"f32", "bf16", "q8", "q4"};
constexpr std::size_t kAll = std::size(kPrecisions);
// The bytes of a weight; in q8 and q4 a block of 32 weights has a scale of two bytes.
constexpr double kBytes[kAll] = {4, 2, 34.0 / 32, 18.0 / 32};
constexpr std::int64_t kRows[] = {1, 2, 4, 8, kMostRows};
// The places of one row and of eight in the list above.
constexpr std::size_t kOne = 0, kEight = 3;

struct Quartiles {
  double low, median, high;
  explicit Quartiles(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t last = values.size() - 1;
    low = values[last / 4], median = values[last / 2], high = values[last - last / 4];
  }
  Json json() const { return {low, median, high}; }
};

// The seconds of each round, for each number of rows.
using Seconds = std::vector<std::vector<double>>;

Quartiles quotient(const std::vector<double>& over, const std::vector<double>& under) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < over.size(); ++i) ratios.push_back(over[i] / under[i]);
  return Quartiles(ratios);
}

Json print_line(const std::string& name, const Seconds& seconds) {
  Json out;
  std::printf("  %-10s", name.c_str());
  for (std::size_t r = 0; r < std::size(kRows); ++r) {
    const Quartiles own(seconds[r]);
    std::printf(" %8.3f [%6.2f, %6.2f]", 1e3 * own.median, 1e3 * own.low, 1e3 * own.high);
    out["seconds"][std::to_string(kRows[r])] = own.json();
  }
  const Quartiles ratio = quotient(seconds[kEight], seconds[kOne]);
  std::printf("  %5.2f [%5.2f, %5.2f]\n", ratio.median, ratio.low, ratio.high);
  out["eight_over_one"] = ratio.json();
  return out;
}

// What one thread of this machine does at best in a second. It is measured in every round, because
// a machine that others use, too, is faster and slower.
struct Best {
  double bytes = read_speed(1), operations = multiply_add_speed();
};

void print_best(const std::vector<Best>& best) {
  std::vector<double> bytes, operations;
  for (const Best& round : best) {
    bytes.push_back(1e-9 * round.bytes);
    operations.push_back(1e-9 * round.operations);
  }
  const Quartiles read(bytes), multiply(operations);
  std::printf(
      "  share of one thread's best, round by round: %.1f GB/s read [%.1f, %.1f], %.0f GFLOP/s in "
      "f32 [%.0f, %.0f]\n",
      read.median, read.low, read.high, multiply.median, multiply.low, multiply.high);
}

struct Weights {
  double count, bytes_each;
};

// Prints which share of the machine's best each number of rows reaches, and of what: of reading the
// weights once, or of multiplying every row by them in f32, whichever takes longer.
Json print_shares(const char* dtype, const Seconds& seconds, const Weights& weights,
                  const std::vector<Best>& best) {
  Json out;
  std::printf("  %-10s", dtype);
  for (std::size_t r = 0; r < std::size(kRows); ++r) {
    std::vector<double> shares;
    std::size_t read = 0;
    for (std::size_t round = 0; round < best.size(); ++round) {
      const double reading = weights.count * weights.bytes_each / best[round].bytes,
                   multiplying =
                       2 * weights.count * static_cast<double>(kRows[r]) / best[round].operations;
      shares.push_back(std::max(reading, multiplying) / seconds[r][round]);
      read += reading > multiplying;
    }
    const char* const bound = 2 * read > best.size() ? "reading" : "multiplying";
    const Quartiles share(shares);
    std::printf(" %10.0f %% %12s", 100 * share.median, bound);
    out[std::to_string(kRows[r])] = {{"share", share.json()}, {"of", bound}};
  }
  std::printf("\n");
  return out;
}

// Prints how many times as long llama.cpp takes, round by round.
Json print_comparison(const char* dtype, const Seconds& own, const Seconds& llama,
                      double difference) {
  Json out{{"largest_difference", difference}};
  std::printf("  %-10s", dtype);
  for (std::size_t r = 0; r < std::size(kRows); ++r) {
    const Quartiles ratio = quotient(llama[r], own[r]);
    std::printf(" %8.2f [%6.2f, %6.2f]", ratio.median, ratio.low, ratio.high);
    out["times"][std::to_string(kRows[r])] = ratio.json();
  }
  std::printf("  %20.1e\n", difference);
  return out;
}

// Returns the largest difference of what two programs say of eight rows: of the logarithms of all
// probabilities.
double largest_difference(RowProgram& one, RowProgram& other) {
  one.answer(8, 0);
  other.answer(8, 0);
  double largest = 0;
  for (std::int64_t row = 0; row < 8; ++row) {
    const std::vector<double> first = one.log_probabilities(row),
                              second = other.log_probabilities(row);
    for (std::size_t token = 0; token < first.size(); ++token) {
      const double difference = std::abs(first[token] - second[token]);
      if (!(difference <= largest)) largest = difference;
    }
  }
  return largest;
}

class RowsBench {
 public:
  RowsBench(const RowsBenchOptions& options, const CommandLine& line, const Registries& registries)
      : options_(options), line_(line), registries_(registries) {
    if (options.llama.empty()) return;
    llama_.emplace(options.llama);
    std::printf("beside %s\nits numbers: F32, BF16, Q8_0, Q4_0, and its cache F16; one thread\n",
                llama_->description().c_str());
  }

  // Measures a published shape, in rounds of all programs.
  Json measure(const std::string& size) const {
    const std::vector<Program> programs = programs_of(size);
    std::vector<double> differences;
    for (std::size_t p = kAll; p < programs.size(); ++p)
      differences.push_back(largest_difference(*programs[p - kAll].rows, *programs[p].rows));
    std::vector<Seconds> seconds(programs.size(), Seconds(std::size(kRows)));
    std::vector<Best> best;
    for (std::int64_t round = 0; round < options_.times; ++round) {
      best.emplace_back();
      for (std::size_t r = 0; r < std::size(kRows); ++r)
        for (std::size_t p = 0; p < programs.size(); ++p)
          seconds[p][r].push_back(programs[p].rows->answer(kRows[r], round + 1));
    }

    const std::int64_t parameters = programs.front().rows->parameters();
    std::printf("%s: %.1f million parameters, %lld rounds, process time in ms [quartiles]\n",
                size.c_str(), 1e-6 * static_cast<double>(parameters),
                static_cast<long long>(options_.times));
    std::printf("  %-10s", "rows");
    for (const std::int64_t rows : kRows) std::printf(" %24lld", static_cast<long long>(rows));
    std::printf(" %20s\n", "8 rows over 1");
    Json out{{"shape", size}, {"parameters", parameters}};
    for (std::size_t p = 0; p < programs.size(); ++p)
      out[programs[p].name] = print_line(programs[p].name, seconds[p]);
    print_best(best);
    for (std::size_t p = 0; p < kAll; ++p)
      out[kPrecisions[p]]["best"] = print_shares(
          kPrecisions[p], seconds[p], {static_cast<double>(parameters), kBytes[p]}, best);
    if (llama_) {
      std::printf("  %-10s %-124s %21s\n", "", "llama.cpp's time over ours, of the same round",
                  "log p differs by");
      for (std::size_t p = 0; p < kAll; ++p)
        out[programs[p].name]["llama"] =
            print_comparison(kPrecisions[p], seconds[p], seconds[p + kAll], differences[p]);
    }
    std::fflush(stdout);
    return out;
  }

 private:
  struct Program {
    std::string name;
    std::unique_ptr<RowProgram> rows;
  };

  // Makes our programs of random weights in every precision, and then llama.cpp's.
  std::vector<Program> programs_of(const std::string& size) const {
    const std::string folder = temporary_name("-" + size);
    write_published_config(size, folder);
    write_random_weights(folder, ElementType::f32);
    std::vector<Program> programs;
    for (const std::string dtype : kPrecisions)
      programs.push_back(
          {dtype, own_program({folder, dtype, options_.prompt}, line_, registries_)});
    for (const std::string dtype : kPrecisions)
      if (llama_)
        programs.push_back(
            {"llama " + dtype, llama_program(*llama_, {folder, dtype, options_.prompt})});
    std::filesystem::remove_all(folder);
    return programs;
  }

  const RowsBenchOptions& options_;
  const CommandLine& line_;
  const Registries& registries_;
  std::optional<LlamaLibrary> llama_;
};

}  // namespace

int bench_rows(const BenchFlags& flags, const CommandLine& line, const Registries& registries) {
  const RowsBenchOptions options = bench_options<RowsBenchOptions>(line);
  std::vector<std::string> sizes(line.paths.begin() + 1, line.paths.end());
  if (sizes.empty()) sizes = {"qwen3-3m", "qwen3-24m", "qwen3-110m"};
  const RowsBench bench(options, line, registries);
  Json out = Json::array();
  for (const std::string& size : sizes) out.push_back(bench.measure(size));
  if (!flags.out.empty()) write_whole(flags.out, out.dump(2) + "\n");
  return 0;
}

}  // namespace draftlab
