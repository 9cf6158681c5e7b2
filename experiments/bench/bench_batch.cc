// Measures what batching gains: tokens a second (those before the first end token) at batch 1, 2,
// 4, ... of a config's first arm, beside a prediction from one forward's time, fitted as a + b x
// rows in the same run.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>

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

struct Measured {
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
Line fit(const std::vector<Measured>& all) {
  Line line{1, 0};
  for (int round = 0; round < 10; ++round) {
    double w = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (const Measured& measured : all) {
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
void measure(const LoadedArm& arm, Measured& measured) {
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

}  // namespace

int bench_batch(const BenchFlags& flags, const CommandLine& line, const Registries& registries) {
  nlohmann::json out;
  for (const char* dtype : {"f32", "bf16"}) {
    Diagnostics diagnostics;
    Config config = Config::read(line.paths[1], line.overrides, diagnostics);
    diagnostics.raise();
    config.set({"run.dtype", dtype, "bench"});
    std::vector<LoadedArm> arms = load_arms(config, registries);
    LoadedArm& arm = arms.front();
    arm.judge = nullptr;
    std::vector<Measured> all;
    // A batch is never fuller than there are decodes.
    const std::int64_t decodes = arm.prompts() * arm.composition.run.samples;
    for (const std::int64_t batch : {1, 2, 4, 8, 16, 32})
      if (batch <= decodes) all.push_back({.batch = batch});
    if (all.empty()) throw ConfigError("{}: the task has no prompts to decode", line.paths[1]);
    const auto spent = [&] {
      return std::accumulate(all.begin(), all.end(), 0.0,
                             [](double sum, const Measured& m) { return sum + m.seconds; });
    };
    for (int round = 0; round < kRounds && spent() < kEnough; ++round) {
      for (Measured& measured : all) {
        arm.composition.run.batch = measured.batch;
        measure(arm, measured);
      }
    }
    const Line time = fit(all);
    std::printf("%s, %s, %s: %lld decodes, threads %d; one forward takes %.3f ms + %.4f ms a row\n",
                line.paths[1].c_str(), arm.cell.label.c_str(), dtype,
                static_cast<long long>(decodes), arm.composition.run.machine.threads, 1e3 * time.a,
                1e3 * time.b);
    std::printf("  batch   tokens/s   of batch 1   rows a forward   ms a row   of the fit's\n");
    for (const Measured& measured : all) {
      double rows = 0, seconds = 0, predicted = 0;
      for (const Forward& forward : measured.forwards)
        rows += forward.rows, seconds += forward.seconds,
            predicted += time.a + time.b * forward.rows;
      const double share = predicted / measured.seconds;
      std::printf("  %5lld %10.0f %11.2fx %16.1f %10.4f %13.0f %%\n",
                  static_cast<long long>(measured.batch), measured.rate(),
                  measured.rate() / all.front().rate(),
                  rows / static_cast<double>(measured.forwards.size()), 1e3 * seconds / rows,
                  100 * share);
      out[dtype].push_back({{"batch", measured.batch},
                            {"tokens_per_second", measured.rate()},
                            {"seconds_per_row", seconds / rows},
                            {"share_of_fit", share}});
    }
    if (decodes < 32)
      std::printf("  larger batches would need more decodes: --limit, --run.samples\n");
    out["fit"][dtype] = {{"a_seconds", time.a}, {"b_seconds_per_row", time.b}};
  }
  if (!flags.out.empty()) write_whole(flags.out, out.dump(2) + "\n");
  return 0;
}

}  // namespace draftlab
