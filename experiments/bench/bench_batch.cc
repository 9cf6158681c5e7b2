// Measures what batching gains: tokens a second (those before the first end token) at batch 1, 2,
// 4, ... of each arm of a config, beside a prediction from one forward's time, fitted as a + b x
// rows in the same run. Arms and batches are measured in turn.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
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

void measure_in_turn(std::vector<OfArm>& arms) {
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
      }
    }
  }
}

// Prints what was measured of an arm, and adds it to the numbers of its dtype.
void print(const OfArm& of, const std::string& config, const char* dtype, nlohmann::json& out) {
  const std::string& label = of.arm.cell.label;
  const Line time = fit(of.batches);
  std::printf("%s, %s, %s: %lld decodes, threads %d; one forward takes %.3f ms + %.4f ms a row\n",
              config.c_str(), label.c_str(), dtype, static_cast<long long>(of.decodes()),
              of.arm.composition.run.machine.threads, 1e3 * time.a, 1e3 * time.b);
  std::printf("  batch   tokens/s   of batch 1   rows a forward   ms a row   of the fit's\n");
  for (const MeasuredBatch& measured : of.batches) {
    double rows = 0, seconds = 0, predicted = 0;
    for (const Forward& forward : measured.forwards)
      rows += forward.rows, seconds += forward.seconds, predicted += time.a + time.b * forward.rows;
    const double share = predicted / measured.seconds;
    std::printf(
        "  %5lld %10.0f %11.2fx %16.1f %10.4f %13.0f %%\n", static_cast<long long>(measured.batch),
        measured.rate(), measured.rate() / of.batches.front().rate(),
        rows / static_cast<double>(measured.forwards.size()), 1e3 * seconds / rows, 100 * share);
    out[dtype].push_back({{"arm", label},
                          {"batch", measured.batch},
                          {"tokens_per_second", measured.rate()},
                          {"seconds_per_row", seconds / rows},
                          {"share_of_fit", share}});
  }
  if (of.decodes() < 32)
    std::printf("  larger batches would need more decodes: --limit, --run.samples\n");
  out["fit"][dtype].push_back(
      {{"arm", label}, {"a_seconds", time.a}, {"b_seconds_per_row", time.b}});
}

}  // namespace

int bench_batch(const BenchFlags& flags, const CommandLine& line, const Registries& registries) {
  nlohmann::json out;
  for (const char* dtype : {"f32", "bf16"}) {
    Diagnostics diagnostics;
    Config config = Config::read(line.paths[1], line.overrides, diagnostics);
    diagnostics.raise();
    config.set({"run.dtype", dtype, "bench"});
    std::vector<LoadedArm> loaded = load_arms(config, registries);
    std::vector<OfArm> arms;
    for (LoadedArm& arm : loaded) arms.push_back(unmeasured(arm));
    for (const OfArm& of : arms)
      if (of.batches.size() != arms.front().batches.size() || of.batches.empty())
        throw ConfigError("{}: every arm must have the same prompts to decode, and some",
                          line.paths[1]);
    measure_in_turn(arms);
    for (const OfArm& of : arms) print(of, line.paths[1], dtype, out);
  }
  if (!flags.out.empty()) write_whole(flags.out, out.dump(2) + "\n");
  return 0;
}

}  // namespace draftlab
