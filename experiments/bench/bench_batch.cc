// Measures what batching gains: tokens a second (those before the first end token) at batch 1, 2,
// 4, ... of each arm of a config, beside a prediction from one forward's time, fitted as a + b x
// rows in the same run. Arms and batches are measured in turn.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/base/progress.h"
#include "core/config/plugin.h"
#include "experiments/arm/loaded_arm.h"
#include "experiments/bench/bench.h"

namespace draftlab {
namespace {

// Batch sizes are measured in turn, because a machine's speed drifts. Those of a large model, which
// take minutes, are measured once.
constexpr int kRounds = 3;
constexpr double kEnough = 60;  // The seconds of decoding after which one measurement is enough.

struct Forward {
  double rows, seconds;
};

struct MeasuredBatch {
  std::int64_t batch, tokens = 0;
  double seconds = 0;
  std::vector<Forward> forwards = {};
  double rate() const { return static_cast<double>(tokens) / seconds; }
  double rows() const {
    double all = 0;
    for (const Forward& forward : forwards) all += forward.rows;
    return all;
  }
  double forward_seconds() const {
    double all = 0;
    for (const Forward& forward : forwards) all += forward.seconds;
    return all;
  }
};

struct Line {
  double a = 0, b = 0;
};

// Fits seconds = a + b x rows by least squares. Each batch size has the same weight, and errors
// relative to the line's own time are minimised, because otherwise the largest batches alone would
// determine it. They are not relative to the time that was measured, which would favour forwards
// that happened to be fast.
Line fit(const std::vector<MeasuredBatch>& all) {
  Line line{1, 0};
  for (int round = 0; round < 10; ++round) {
    double w = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (const MeasuredBatch& measured : all) {
      for (const Forward& forward : measured.forwards) {
        const double expected = line.a + line.b * forward.rows;
        const double weight =
            1 / (static_cast<double>(measured.forwards.size()) * expected * expected);
        w += weight, x += weight * forward.rows, y += weight * forward.seconds;
        xx += weight * forward.rows * forward.rows, xy += weight * forward.rows * forward.seconds;
      }
    }
    line.b = (w * xy - x * y) / (w * xx - x * x);
    line.a = (y - line.b * x) / w;
  }
  return line;
}

// Decodes all prompts at that batch size once more.
void measure(const LoadedArm& arm, MeasuredBatch& measured) {
  std::vector<Job> jobs;
  const RunOptions& run = arm.composition.run;
  for (int i = 0; i < arm.prompts(); ++i)
    for (int repeat = 0; repeat < run.samples; ++repeat)
      jobs.push_back({static_cast<int>(run.first) + i, repeat});
  arm.models.target().watch([&](std::int64_t rows, std::int64_t ns) {
    measured.forwards.push_back({static_cast<double>(rows), 1e-9 * static_cast<double>(ns)});
  });
  const auto began = std::chrono::steady_clock::now();
  arm.decode(jobs, [&](const SampleRow& row) {
    measured.tokens += row.valid;
    return true;
  });
  measured.seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  arm.models.target().watch({});
}

// An arm, and what was measured of it at each batch size.
struct OfArm {
  LoadedArm& arm;
  std::vector<MeasuredBatch> batches;

  std::int64_t decodes() const { return arm.prompts() * arm.composition.run.samples; }
};

// A batch is never fuller than there are decodes.
OfArm unmeasured(LoadedArm& arm) {
  arm.judge = nullptr;
  OfArm of{arm, {}};
  for (const std::int64_t batch : {1, 2, 4, 8, 16, 32})
    if (batch <= of.decodes()) of.batches.push_back({.batch = batch});
  return of;
}

void measure_in_turn(std::vector<OfArm>& arms, Progress& progress) {
  double spent = 0;
  for (int round = 0; round < kRounds && spent < kEnough * static_cast<double>(arms.size());
       ++round) {
    for (std::size_t i = 0; i < arms.front().batches.size(); ++i) {
      for (OfArm& of : arms) {
        MeasuredBatch& measured = of.batches[i];
        const double before = measured.seconds;
        of.arm.composition.run.batch = measured.batch;
        measure(of.arm, measured);
        spent += measured.seconds - before;
        progress.add();
      }
    }
  }
}

// What was measured of an arm in one precision.
struct ArmRates {
  std::string arm, dtype;
  Line time;
  std::vector<MeasuredBatch> batches;

  std::string name() const { return arm.empty() ? dtype : arm + ", " + dtype; }
  // The share of the time that the fit predicts for the forwards of a batch.
  double share(const MeasuredBatch& measured) const {
    double predicted = 0;
    for (const Forward& forward : measured.forwards) predicted += time.a + time.b * forward.rows;
    return predicted / measured.seconds;
  }
};

std::string factor(double value) { return fixed(value, 2) + "x"; }

// A table with a line an arm and a column a batch.
TextTable by_batch(const std::vector<ArmRates>& all, const std::vector<std::string>& more) {
  TextTable table{{"arm"}, {}};
  table.header.insert(table.header.end(), more.begin(), more.end());
  for (const MeasuredBatch& measured : all.front().batches)
    table.header.push_back("batch " + std::to_string(measured.batch));
  return table;
}

TextTable rate_table(const std::vector<ArmRates>& all) {
  TextTable table = by_batch(all, {"a + b a row, ms"});
  table.header.push_back("most over batch 1");
  for (const ArmRates& of : all) {
    std::vector<std::string> cells{of.name()};
    cells.push_back(fixed(1e3 * of.time.a, 3) + " + " + fixed(1e3 * of.time.b, 4));
    double most = 0;
    for (const MeasuredBatch& measured : of.batches) {
      most = std::max(most, measured.rate());
      cells.push_back(fixed(measured.rate(), 0) + " (" + fixed(100 * of.share(measured), 0) +
                      " %)");
    }
    cells.push_back(factor(most / of.batches.front().rate()));
    table.rows.push_back(cells);
  }
  return table;
}

TextTable row_table(const std::vector<ArmRates>& all) {
  TextTable table = by_batch(all, {});
  for (const ArmRates& of : all) {
    std::vector<std::string> cells{of.name()};
    for (const MeasuredBatch& measured : of.batches)
      cells.push_back(fixed(1e3 * measured.forward_seconds() / measured.rows(), 4) + " (" +
                      fixed(measured.rows() / static_cast<double>(measured.forwards.size()), 1) +
                      ")");
    table.rows.push_back(cells);
  }
  return table;
}

// The arms of a precision beside its first one.
TextTable factor_table(const std::vector<ArmRates>& all) {
  TextTable table = by_batch(all, {});
  const ArmRates* first = nullptr;
  for (const ArmRates& of : all) {
    if (!first || first->dtype != of.dtype) first = &of;
    std::vector<std::string> cells{of.name()};
    for (std::size_t i = 0; i < of.batches.size(); ++i)
      cells.push_back(factor(of.batches[i].rate() / first->batches[i].rate()));
    table.rows.push_back(cells);
  }
  return table;
}

nlohmann::json numbers(const std::vector<ArmRates>& all) {
  nlohmann::json out;
  for (const ArmRates& of : all) {
    for (const MeasuredBatch& measured : of.batches)
      out[of.dtype].push_back({{"arm", of.arm},
                               {"batch", measured.batch},
                               {"tokens_per_second", measured.rate()},
                               {"seconds_per_row", measured.forward_seconds() / measured.rows()},
                               {"share_of_fit", of.share(measured)}});
    out["fit"][of.dtype].push_back(
        {{"arm", of.arm}, {"a_seconds", of.time.a}, {"b_seconds_per_row", of.time.b}});
  }
  return out;
}

}  // namespace

int bench_batch(const BenchFlags& flags, const CommandLine& line, const Registries& registries) {
  const std::string& path = line.paths[1];
  std::vector<ArmRates> all;
  std::int64_t decodes = 0;
  int threads = 0;
  for (const char* dtype : {"f32", "bf16"}) {
    Diagnostics diagnostics;
    Config config = Config::read(path, line.overrides, diagnostics);
    diagnostics.raise();
    config.set({"run.dtype", dtype, "bench"});
    std::vector<LoadedArm> loaded = load_arms(config, registries);
    std::vector<OfArm> arms;
    for (LoadedArm& arm : loaded) arms.push_back(unmeasured(arm));
    for (const OfArm& of : arms)
      if (of.batches.size() != arms.front().batches.size() || of.batches.empty())
        throw ConfigError("{}: every arm must have the same prompts to decode, and some", path);
    Progress progress("bench batch, " + std::string(dtype), "measurements",
                      static_cast<std::int64_t>(kRounds * arms.size() * arms[0].batches.size()));
    measure_in_turn(arms, progress);
    progress.clear();
    for (const OfArm& of : arms)
      all.push_back({of.arm.cell.label, dtype, fit(of.batches), of.batches});
    decodes = arms.front().decodes();
    threads = arms.front().arm.composition.run.machine.threads;
  }
  flags.print(path + ", " + std::to_string(decodes) + " decodes an arm, threads " +
                  std::to_string(threads) + ": tokens a second (share that the fit predicts)",
              rate_table(all));
  flags.print("Milliseconds a row (rows a forward)", row_table(all));
  if (all.front().arm != all.back().arm)
    flags.print("Tokens a second over those of the first arm", factor_table(all));
  if (decodes < 32)
    std::printf("\nLarger batches would need more decodes: --limit, --run.samples\n");
  flags.write(numbers(all));
  return 0;
}

}  // namespace draftlab
