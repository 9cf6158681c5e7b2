#include "experiments/sweep/sweep_estimate.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>

#include "core/base/cores.h"
#include "core/base/progress.h"
#include "core/config/composition.h"
#include "core/loop/decoder.h"
#include "core/prob/chance.h"
#include "experiments/arm/loaded_arm.h"

namespace draftlab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostProbed = 8;  // The most cells that are tried.
constexpr double kProbeSeconds = 3;  // The seconds of decoding in each of them, at least one step.
constexpr int kProbeSamples = 3;

double seconds_since(Clock::time_point time) {
  return std::chrono::duration<double>(Clock::now() - time).count();
}

struct Probe {
  double loading = 0, sample = 0;  // The seconds of loading, and of one sample.
  int threads = 1;
};

// Seconds that a sample of this cell takes: by decoding some, or the first steps of one that is
// long.
Probe probe(const SweepCell& cell, ModelCache& cache, const Registries& registries) {
  Diagnostics diagnostics;
  Composition composition = composition_of(cell.cell, registries, diagnostics);
  diagnostics.raise();
  Probe found;
  int& threads = composition.run.machine.threads;
  if (threads == 0) threads = usable_threads();
  found.threads = threads;
  auto began = Clock::now();
  const LoadedArm arm = cache.arm(cell.cell, std::move(composition));
  found.loading = seconds_since(began);
  began = Clock::now();
  double decoded = 0;
  for (int i = 0;
       i < kProbeSamples && decoded < 1 + i && (i == 0 || seconds_since(began) < kProbeSeconds);
       ++i) {
    const Prompt prompt = arm.task->prompt(static_cast<int>(cell.first + i % cell.prompts));
    SampledChance chance(static_cast<std::uint64_t>(arm.composition.run.seed));
    Decoder decoder(arm.composition, arm.models, prompt, {chance, static_cast<std::uint64_t>(i)});
    const double open =
        prompt.length - decoder.canvas().committed() - static_cast<double>(prompt.given.size());
    const int before = decoder.canvas().committed();
    while (drive(arm.models, decoder, decoder.step()) && seconds_since(began) < kProbeSeconds) {}
    decoded += decoder.done() || open <= 0 ? 1 : (decoder.canvas().committed() - before) / open;
  }
  found.sample = seconds_since(began) / std::max(decoded, 1e-6);
  return found;
}

}  // namespace

int estimate(SweepFolder& folder, const Registries& registries) {
  const std::vector<SweepCell>& cells = folder.cells();
  ModelCache cache;
  std::vector<Probe> probes;
  const std::size_t probed = std::min(kMostProbed, cells.size());
  for (std::size_t i = 0; i < probed; ++i)
    probes.push_back(probe(cells[i * cells.size() / probed], cache, registries));
  double process_seconds = 0, core_seconds = 0, longest = 0;
  std::int64_t samples = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Probe& like = probes[std::min(probed - 1, i * probed / cells.size())];
    const double seconds = static_cast<double>(cells[i].wanted()) * like.sample;
    process_seconds += seconds, core_seconds += seconds * like.threads;
    samples += cells[i].wanted();
    longest = std::max(longest, seconds + like.loading);
  }
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const double memory = static_cast<double>(used.ru_maxrss) / (1 << 20);  // The memory in GiB.
  const long minutes = std::lround(std::ceil(1.5 * longest / 60)) + 1;
  std::printf(
      "estimate from %zu of %zu cells, a few steps each:\n  %lld samples, %s of one process, %.4g "
      "core-hours\n  the longest cell takes %s\n"
      "  suggested for one cell a task: --time=%ld:%02ld:00 --mem=%ldM (peak here %.0f MiB)\n",
      probed, cells.size(), static_cast<long long>(samples), duration(process_seconds).c_str(),
      core_seconds / 3600, duration(longest).c_str(), minutes / 60, minutes % 60,
      std::lround(std::ceil((1.3 * memory + 0.25) * 10) * 102.4), memory * 1024);
  folder.remember_estimate(process_seconds / 3600);
  return 0;
}

}  // namespace draftlab
