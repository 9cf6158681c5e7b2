#include "plugins/models/bench/machine_speed.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "plugins/models/nn/kernels/rows/instructions.h"

namespace draftlab {
namespace {

// Sums in lanes, so that the loop waits for memory and not for its own additions.
std::uint64_t sum(const std::uint64_t* from, std::size_t count) {
  std::uint64_t lanes[32] = {};
  for (std::size_t i = 0; i < count; i += 32) {
    for (int j = 0; j < 32; j += 8) __builtin_prefetch(from + i + j + 1024);
    for (int j = 0; j < 32; ++j) lanes[j] += from[i + j];
  }
  std::uint64_t all = 0;
  for (const std::uint64_t lane : lanes) all += lane;
  return all;
}

constexpr int kChains = 12;  // None waits for another, which hides how long one step takes.

template <class Vector>
[[gnu::always_inline]] inline float chains(std::int64_t rounds) {
  Vector lanes[kChains];
  for (int i = 0; i < kChains; ++i) lanes[i] = Vector{} + static_cast<float>(i);  // All differ.
  const Vector factor = Vector{} + 0.5F, term = Vector{} + 1.0F;
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (Vector& lane : lanes) lane = lane * factor + term;
  }
  float all = 0;
  for (const Vector& lane : lanes) all += lane[0];
  return all;
}

using Eight = float __attribute__((vector_size(32)));
using Sixteen = float __attribute__((vector_size(64)));

}  // namespace

double multiply_add_speed() {
  constexpr std::int64_t kRounds = 2'000'000;
  const bool widest = instructions() == Instructions::avx512;
  const auto loop = [&] { return widest ? chains<Sixteen>(kRounds) : chains<Eight>(kRounds); };
  double best = 0;
  volatile float kept = 0;
  for (int round = 0; round < 5; ++round) {
    const auto began = std::chrono::steady_clock::now();
    kept = kept + on_widest(loop);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    best = std::max(best, 2.0 * kChains * (widest ? 16 : 8) * kRounds / seconds);
  }
  return best;
}

double read_speed(int threads) {
  constexpr std::size_t kEach = std::size_t{32}  // The words that one thread reads.
                                << 20;
  std::vector<std::vector<std::uint64_t>> arrays(threads, std::vector<std::uint64_t>(kEach, 1));
  double best = 0;
  volatile std::uint64_t kept = 0;
  for (int round = 0; round < 5; ++round) {
    const auto began = std::chrono::steady_clock::now();
    std::vector<std::uint64_t> sums(threads);
    std::vector<std::thread> workers;
    for (int i = 0; i < threads; ++i)
      workers.emplace_back([&, i] { sums[i] = sum(arrays[i].data(), kEach); });
    for (std::thread& worker : workers) worker.join();
    for (const std::uint64_t one : sums) kept = kept + one;
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    best = std::max(best, static_cast<double>(threads * kEach * sizeof(std::uint64_t)) / seconds);
  }
  return best;
}

}  // namespace draftlab
