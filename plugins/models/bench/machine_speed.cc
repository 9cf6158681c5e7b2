#include "plugins/models/bench/machine_speed.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

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

}  // namespace

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
