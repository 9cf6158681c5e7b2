#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/config/composition.h"
#include "core/trace/trace_file.h"
#include "experiments/bench/bench.h"

namespace draftlab {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Wall time, and the processor's: on a machine that others use, only the latter says how much work
// there is.
struct Took {
  double seconds = 0, processor = 0;
};

class Watch {
 public:
  void stop(Took& took) const {
    took.seconds += std::chrono::duration<double>(Clock::now() - began_).count();
    took.processor += static_cast<double>(std::clock() - clock_) / CLOCKS_PER_SEC;
  }

 private:
  Clock::time_point began_ = Clock::now();
  std::clock_t clock_ = std::clock();
};

struct TraceBenchOptions {
  std::int64_t steps = 5000000, tokens = 0, drafts = 0;
  std::string folder;
  void declare(OptionSet& set) {
    set.add("steps", &steps).in(1, 1e9).help("Rows of the step table.");
    set.add("tokens", &tokens).in(0, 64).help("Rows of the token table, a step.");
    set.add("drafts", &drafts).in(0, 64).help("Rows of the draft table, a step.");
    set.add("folder", &folder).help("Where to write; empty: a temporary folder.");
  }
};

// Makes numbers that vary as those of a decode do: counts are small, times differ in their last 14
// bits, and probabilities in all.
class Numbers {
 public:
  std::int32_t below(int bound) {
    return static_cast<std::int32_t>((next() >> 33) % static_cast<unsigned>(bound));
  }
  double share() { return static_cast<double>(next() >> 40) / (1 << 24); }

 private:
  std::uint64_t next() { return state_ = state_ * 6364136223846793005u + 1442695040888963407u; }
  std::uint64_t state_ = 1;
};

// The steps of a sample.
constexpr int kSteps = 100;

SampleRow sample(const TraceBenchOptions& options, int index, Numbers& numbers) {
  SampleRow row;
  row.prompt_index = index;
  row.prompt_id = "prompt-" + std::to_string(index);
  row.status = "done";
  row.seconds = numbers.share();
  for (int s = 0; s < kSteps; ++s) {
    StepRow step;
    step.step = s;
    step.masked = 512 - 5 * s;
    step.drafted = step.span = 5;
    step.exact = step.verified = 1;
    step.accepted = numbers.below(5);
    step.committed = step.accepted + 1;
    step.stop =
        static_cast<std::int32_t>(step.committed == 5 ? Stop::window_end : Stop::wrong_token);
    step.score = step.expected = kNotMeasured;
    step.counts[Kind::draft] = {1, 1, 5 + numbers.below(5), 7000000 + numbers.below(1 << 14)};
    step.counts[Kind::verify] = {1, 1, 5, 8000000 + numbers.below(1 << 14)};
    step.ns =
        step.counts[Kind::draft].ns + step.counts[Kind::verify].ns + 20000 + numbers.below(1 << 10);
    for (int i = 0; i < options.tokens; ++i) {
      TokenRow token;
      token.position = 5 * s + i, token.rank = i, token.token = numbers.below(32000);
      token.p = numbers.share(), token.q = numbers.share(), token.confidence = numbers.share(),
      token.entropy = numbers.share(), token.margin = numbers.share();
      step.tokens.push_back(token);
    }
    for (int i = 0; i < options.drafts; ++i) {
      DraftRow draft;
      draft.position = 5 * s + i, draft.depth = i, draft.token = numbers.below(32000),
      draft.accepted = numbers.below(2);
      draft.p = numbers.share(), draft.q = numbers.share(), draft.accept = numbers.share(),
      draft.confidence = numbers.share();
      draft.margin = numbers.share(), draft.entropy = numbers.share(),
      draft.renyi2 = numbers.share();
      step.drafts.push_back(draft);
    }
    row.steps.push_back(std::move(step));
  }
  return row;
}

std::uintmax_t bytes_of(const fs::path& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file()) bytes += entry.file_size();
  return bytes;
}

// What was measured of one trace.
struct TraceCost {
  Took making, writing, merging, reading;
  std::uintmax_t unit_bytes = 0, bytes = 0;
  std::size_t units = 0;
  // The samples that were read from units, and the rows that were read of the step table.
  std::int64_t seen = 0;
  double read_rows = 0;
};

// Writes the samples, reads some of the units while the run goes on, merges them, and reads the
// step table of what came of it.
TraceCost measure(const std::string& path, const TraceBenchOptions& options, std::int64_t samples) {
  TraceCost cost;
  RunRow run;
  run.id = "bench";
  {
    TraceWriter writer(path, {{}, {run}}, TraceOptions{}, false);
    Numbers numbers;
    for (std::int64_t i = 0; i < samples; ++i) {
      const Watch made;
      SampleRow row = sample(options, static_cast<int>(i), numbers);
      made.stop(cost.making);
      const Watch watch;
      writer.sample(std::move(row));
      watch.stop(cost.writing);
    }
    const Watch flushing;
    writer.flush();
    flushing.stop(cost.writing);
    for (const auto& unit : fs::directory_iterator(path + ".units")) {
      if (unit.path().extension() != ".h5") continue;
      if (++cost.units % 50 == 1) cost.seen += Trace(unit.path().string()).samples();
    }
    cost.unit_bytes = bytes_of(path + ".units");
    const Watch watch;
    writer.close();
    watch.stop(cost.merging);
  }
  cost.bytes = fs::file_size(path);
  const Watch watch;
  const Trace trace(path);
  cost.read_rows =
      static_cast<double>(trace.columns(Table::step, 0, trace.rows(Table::step)).rows());
  watch.stop(cost.reading);
  return cost;
}

// One line of the table, and the same numbers.
struct Speed {
  std::string what;
  Took took;
  double rows;
  std::uintmax_t bytes;

  double bytes_each() const { return static_cast<double>(bytes) / rows; }
  std::vector<std::string> cells() const {
    return {what,
            fixed(took.seconds, 2),
            fixed(took.processor, 2),
            fixed(rows / took.seconds, 0),
            fixed(rows / took.processor, 0),
            fixed(bytes_each(), 1)};
  }
  nlohmann::json json() const {
    return {{"what", what},
            {"seconds", took.seconds},
            {"processor_seconds", took.processor},
            {"rows", rows},
            {"bytes_a_row", bytes_each()}};
  }
};

}  // namespace

int bench_trace(const BenchFlags& flags, const CommandLine& line) {
  const TraceBenchOptions options = bench_options<TraceBenchOptions>(line);
  const fs::path folder =
      (options.folder.empty() ? fs::temp_directory_path() : fs::path(options.folder)) /
      ("draftlab-bench-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const std::int64_t samples = (options.steps + kSteps - 1) / kSteps;
  const double rows = static_cast<double>(samples * kSteps) *
                      static_cast<double>(1 + options.tokens + options.drafts);
  const TraceCost cost = measure((folder / "trace.h5").string(), options, samples);
  TextTable table{{"what", "s", "s of processors", "rows a second", "rows a second of processors",
                   "bytes a row"},
                  {}};
  nlohmann::json numbers = nlohmann::json::array();
  for (const Speed& speed : {Speed{"written as " + std::to_string(cost.units) + " synced units",
                                   cost.writing, rows, cost.unit_bytes},
                             Speed{"merged", cost.merging, rows, cost.bytes},
                             Speed{"step table read", cost.reading, cost.read_rows, cost.bytes}}) {
    table.rows.push_back(speed.cells());
    numbers.push_back(speed.json());
  }
  flags.print(fixed(rows, 0) + " rows: " + std::to_string(samples * kSteps) + " steps, " +
                  std::to_string(options.tokens) + " tokens and " + std::to_string(options.drafts) +
                  " drafts each, default columns",
              table);
  std::printf(
      "\n%lld samples were read from units before the end; making the rows took %.1f s, which is "
      "not counted\n",
      static_cast<long long>(cost.seen), cost.making.seconds);
  flags.write(numbers);
  fs::remove_all(folder);
  return 0;
}

}  // namespace draftlab
