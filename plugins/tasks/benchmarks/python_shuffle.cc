#include "plugins/tasks/benchmarks/python_shuffle.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace draftlab {
namespace {

// The 32-bit words of Python's random.Random(seed): the Mersenne twister of Matsumoto and Nishimura
// (1998), seeded by their init_by_array with one word. It draws nothing in an experiment; it only
// names a subset that others chose.
class PythonWords {
 public:
  explicit PythonWords(std::uint32_t seed) {
    state_[0] = 19650218u;
    for (std::uint32_t i = 1; i < kSize; ++i) state_[i] = 1812433253u * mixed(i - 1) + i;
    std::uint32_t i = 1;
    const auto next = [&] {
      if (++i < kSize) return;
      state_[0] = state_[kSize - 1];
      i = 1;
    };
    for (std::uint32_t k = 0; k < kSize; ++k, next())
      state_[i] = (state_[i] ^ (mixed(i - 1) * 1664525u)) + seed;
    for (std::uint32_t k = 1; k < kSize; ++k, next())
      state_[i] = (state_[i] ^ (mixed(i - 1) * 1566083941u)) - i;
    state_[0] = 0x80000000u;
  }
  std::uint32_t operator()() {
    if (at_ == kSize) twist();
    std::uint32_t y = state_[at_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

 private:
  static constexpr std::uint32_t kSize = 624, kMiddle = 397;
  std::uint32_t mixed(std::uint32_t i) const { return state_[i] ^ (state_[i] >> 30); }
  void twist() {
    for (std::uint32_t i = 0; i < kSize; ++i) {
      const std::uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % kSize] & 0x7fffffffu);
      state_[i] = state_[(i + kMiddle) % kSize] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    at_ = 0;
  }
  std::array<std::uint32_t, kSize> state_;
  std::uint32_t at_ = kSize;
};

}  // namespace

std::vector<int> python_shuffle(int total, std::uint32_t seed) {
  PythonWords words(seed);
  std::vector<int> order(static_cast<std::size_t>(std::max(total, 0)));
  std::iota(order.begin(), order.end(), 0);
  for (std::uint32_t i = static_cast<std::uint32_t>(order.size()); i-- > 1;) {
    // Draws a uniform number below i + 1: as many high bits as it needs, drawn again while it is
    // too large.
    int bits = 0;
    for (std::uint32_t n = i + 1; n; n >>= 1) ++bits;
    std::uint32_t j;
    do j = words() >> (32 - bits);
    while (j > i);
    std::swap(order[i], order[j]);
  }
  return order;
}

}  // namespace draftlab
