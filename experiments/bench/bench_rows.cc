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

#include "core/base/progress.h"
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

// The seconds of each round, for each number of rows.
using Seconds = std::vector<std::vector<double>>;

Quartiles quotient(const std::vector<double>& over, const std::vector<double>& under) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < over.size(); ++i) ratios.push_back(over[i] / under[i]);
  return Quartiles(ratios);
}

// What one thread of this machine does at best in a second. It is measured in every round, because
// a machine that others use, too, is faster and slower.
struct Best {
  double bytes = read_speed(1), operations = multiply_add_speed();
};

// What was measured of one precision of a published shape.
struct Measured {
  std::string dtype;
  double bytes_each;
  Seconds own, llama = {};
  double difference = 0;

  std::string name(const std::string& shape) const { return shape + " " + dtype; }
};

// What was measured of a published shape.
struct OfShape {
  std::string shape;
  double parameters;
  std::vector<Best> best;
  std::vector<Measured> precisions;
};

// A table with a line a precision, a column a number of rows, and more columns.
TextTable by_rows(const std::string& first, const std::vector<std::string>& more) {
  TextTable table{{first}, {}};
  for (const std::int64_t rows : kRows)
    table.header.push_back(std::to_string(rows) + (rows == 1 ? " row" : " rows"));
  table.header.insert(table.header.end(), more.begin(), more.end());
  return table;
}

// Adds the milliseconds of each number of rows, and how many times as long eight take as one.
void add_times(TextTable& table, const std::string& name, const Seconds& seconds, Json& out) {
  std::vector<std::string> cells{name};
  for (std::size_t r = 0; r < std::size(kRows); ++r) {
    const Quartiles own(seconds[r]);
    cells.push_back(fixed(1e3 * own.median(), 3));
    out["seconds"][std::to_string(kRows[r])] = own.json();
  }
  const Quartiles ratio = quotient(seconds[kEight], seconds[kOne]);
  cells.push_back(ratio.text(2));
  out["eight_over_one"] = ratio.json();
  table.rows.push_back(cells);
}

// Adds which share of the machine's best each number of rows reaches, and of what: of reading the
// weights once, or of multiplying every row by them in f32, whichever takes longer.
void add_shares(TextTable& table, const OfShape& of, const Measured& measured, Json& out) {
  std::vector<std::string> cells{measured.name(of.shape)};
  for (std::size_t r = 0; r < std::size(kRows); ++r) {
    std::vector<double> shares;
    std::size_t read = 0;
    for (std::size_t round = 0; round < of.best.size(); ++round) {
      const double reading = of.parameters * measured.bytes_each / of.best[round].bytes,
                   multiplying = 2 * of.parameters * static_cast<double>(kRows[r]) /
                                 of.best[round].operations;
      shares.push_back(100 * std::max(reading, multiplying) / measured.own[r][round]);
      read += reading > multiplying;
    }
    const char* const bound = 2 * read > of.best.size() ? "reading" : "multiplying";
    const Quartiles share(shares);
    cells.push_back(fixed(share.median(), 0) + " % of " + bound);
    out[std::to_string(kRows[r])] = {{"percent", share.json()}, {"of", bound}};
  }
  table.rows.push_back(cells);
}

// Adds how many times as long llama.cpp takes, round by round.
void add_comparison(TextTable& table, const OfShape& of, const Measured& measured, Json& out) {
  std::vector<std::string> cells{measured.name(of.shape)};
  out["largest_difference"] = measured.difference;
  for (std::size_t r = 0; r < std::size(kRows); ++r) {
    const Quartiles ratio = quotient(measured.llama[r], measured.own[r]);
    cells.push_back(ratio.text(2));
    out["times"][std::to_string(kRows[r])] = ratio.json();
  }
  cells.push_back(fmt::format("{:.2g}", measured.difference));
  table.rows.push_back(cells);
}

// The line of a shape's size, and of what one thread did beside it.
std::vector<std::string> machine_cells(const OfShape& of) {
  std::vector<double> bytes, operations;
  for (const Best& round : of.best) {
    bytes.push_back(1e-9 * round.bytes);
    operations.push_back(1e-9 * round.operations);
  }
  return {of.shape, fixed(1e-6 * of.parameters, 1), Quartiles(bytes).text(1),
          Quartiles(operations).text(0)};
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
  OfShape measure(const std::string& shape, Progress& progress) const {
    const auto programs = programs_of(shape);
    OfShape of{shape, static_cast<double>(programs.front()->parameters()), {}, {}};
    for (std::size_t p = 0; p < kAll; ++p)
      of.precisions.push_back({kPrecisions[p], kBytes[p], Seconds(std::size(kRows))});
    for (std::size_t p = kAll; p < programs.size(); ++p) {
      Measured& measured = of.precisions[p - kAll];
      measured.difference = largest_difference(*programs[p - kAll], *programs[p]);
      measured.llama.resize(std::size(kRows));
    }
    for (std::int64_t round = 0; round < options_.times; ++round) {
      of.best.emplace_back();
      for (std::size_t r = 0; r < std::size(kRows); ++r) {
        for (std::size_t p = 0; p < programs.size(); ++p) {
          Measured& measured = of.precisions[p % kAll];
          (p < kAll ? measured.own : measured.llama)[r].push_back(
              programs[p]->answer(kRows[r], round + 1));
        }
      }
      progress.add();
    }
    return of;
  }

  // Prints and writes what was measured of all shapes.
  void report(const BenchFlags& flags, const std::vector<OfShape>& all) const {
    TextTable times = by_rows("weights", {"8 rows over 1"}), shares = by_rows("weights", {}),
              llama = by_rows("weights", {"log p differs by"}),
              machine{{"weights", "million parameters", "GB/s read", "GFLOP/s in f32"}, {}};
    Json out = Json::array();
    for (const OfShape& of : all) {
      Json numbers{{"shape", of.shape}, {"parameters", of.parameters}};
      for (const Measured& measured : of.precisions) {
        Json& own = numbers[measured.dtype];
        add_times(times, measured.name(of.shape), measured.own, own);
        add_shares(shares, of, measured, own["best"]);
        if (!llama_) continue;
        add_times(times, measured.name(of.shape) + ", llama.cpp", measured.llama,
                  numbers["llama " + measured.dtype]);
        add_comparison(llama, of, measured, own["llama"]);
      }
      machine.rows.push_back(machine_cells(of));
      out.push_back(numbers);
    }
    flags.print("Process time in ms, medians of " + std::to_string(options_.times) +
                    " rounds; quotients of the same round [quartiles]",
                times);
    flags.print("Share of one thread's best, round by round", shares);
    flags.print("What one thread does at best [quartiles]", machine);
    if (llama_) flags.print("llama.cpp's time over ours, of the same round [quartiles]", llama);
    flags.write(out);
  }

 private:
  // Makes our programs of random weights in every precision, and then llama.cpp's.
  std::vector<std::unique_ptr<RowProgram>> programs_of(const std::string& size) const {
    const std::string folder = temporary_name("-" + size);
    write_published_config(size, folder);
    write_random_weights(folder, ElementType::f32);
    std::vector<std::unique_ptr<RowProgram>> programs;
    for (const std::string dtype : kPrecisions)
      programs.push_back(own_program({folder, dtype, options_.prompt}, line_, registries_));
    for (const std::string dtype : kPrecisions)
      if (llama_) programs.push_back(llama_program(*llama_, {folder, dtype, options_.prompt}));
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
  std::vector<std::string> shapes(line.paths.begin() + 1, line.paths.end());
  if (shapes.empty()) shapes = {"qwen3-3m", "qwen3-24m", "qwen3-110m"};
  const RowsBench bench(options, line, registries);
  std::vector<OfShape> all;
  Progress progress("bench rows", "rounds",
                    options.times * static_cast<std::int64_t>(shapes.size()));
  for (const std::string& shape : shapes) all.push_back(bench.measure(shape, progress));
  progress.clear();
  bench.report(flags, all);
  return 0;
}

}  // namespace draftlab
