#include "plugins/models/nn/kernels/rows/quantised_panels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "plugins/models/nn/kernels/rows/lanes.h"

namespace draftlab {
namespace {

// A block whose largest magnitude is smaller counts as zeros, because its inverse may overflow.
constexpr float kSmallest = 1e-30f;

// Returns the smallest power of two that is at least so much.
DRAFTLAB_INLINE float at_least(float size) {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(size) + 0x7fffffu) & 0x7f800000u);
}

// Returns where a weight stands among the numbers of a block: its byte, and in four bits which half
// of it.
struct Place {
  std::int64_t byte;
  bool high;
};
Place place_of(Layout layout, std::int64_t output, std::int64_t input) {
  if (layout == Layout::q8) return {input / 4 * 64 + output * 4 + input % 4, false};
  return {input % 16 / 4 * 64 + output * 4 + input % 4, input >= 16};
}

}  // namespace

void pack_panel(Layout layout, FloatRows weights, std::int64_t in, char* panel) {
  const std::int64_t blocks = quantised_blocks(in), bytes = block_numbers(layout);
  char* const numbers = panel + scale_bytes(blocks);
  std::memset(panel, 0, panel_bytes(layout, in));
  if (layout == Layout::q4) std::memset(numbers, 0x88, blocks * bytes);
  for (std::int64_t output = 0; output < weights.count; ++output) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      float some[kQuantisedBlock] = {};
      std::copy_n(weights.first + output * in + b * kQuantisedBlock,
                  std::min(kQuantisedBlock, in - b * kQuantisedBlock), some);
      const QuantisedBlock block = layout == Layout::q8 ? eight_bits(some) : four_bits(some);
      std::memcpy(panel + 32 * b + 2 * output, &block.scale, 2);
      for (std::int64_t i = 0; i < kQuantisedBlock; ++i) {
        const auto [byte, high] = place_of(layout, output, i);
        char& to = numbers[b * bytes + byte];
        if (layout == Layout::q8)
          to = static_cast<char>(block.numbers[i]);
        else if (high)
          to = static_cast<char>((to & 15) | (block.numbers[i] + 8) << 4);
        else
          to = static_cast<char>((to & 0xf0) | (block.numbers[i] + 8));
      }
    }
  }
}

void unpack_output(const PackedView& linear, std::int64_t output, float* weights) {
  const std::int64_t bytes = block_numbers(linear.layout), lane = output % 16;
  const char* const panel = static_cast<const char*>(linear.panels) + output / 16 * linear.stride;
  const char* const numbers = panel + scale_bytes(quantised_blocks(linear.in));
  for (std::int64_t i = 0; i < linear.in; ++i) {
    const std::int64_t b = i / kQuantisedBlock;
    const auto [byte, high] = place_of(linear.layout, lane, i % kQuantisedBlock);
    const char stored = numbers[b * bytes + byte];
    std::uint16_t scale;
    std::memcpy(&scale, panel + 32 * b + 2 * lane, 2);
    const int number = linear.layout == Layout::q8 ? static_cast<std::int8_t>(stored)
                       : high                      ? (static_cast<std::uint8_t>(stored) >> 4) - 8
                                                   : (stored & 15) - 8;
    weights[i] = static_cast<float>(number) * from_half(scale);
  }
}

void QuantisedRows::resize(Layout layout, std::int64_t rows, std::int64_t in) {
  rows_ = rows;
  in_ = in;
  blocks_ = quantised_blocks(in);
  offset_ = layout == Layout::q8 ? 128 : 8;
  powers_ = layout == Layout::q4;
  numbers_.resize(rows * blocks_ * kQuantisedBlock);
  scales_.resize(rows * blocks_);
  excess_.resize(rows * blocks_);
}

void QuantisedRows::round_blocks(FloatRows blocks, std::int64_t row, std::int64_t block) {
  // What is written may be a member, as far as the compiler knows.
  const std::int64_t step = rows_, at = block * rows_ + row;
  const std::int32_t offset = offset_;
  const bool powers = powers_;
  const float* x = blocks.first;
  auto* numbers = reinterpret_cast<std::int8_t*>(numbers_.data()) + at * kQuantisedBlock;
  float* scales = scales_.data() + at;
  std::int32_t* excess = excess_.data() + at;
  on_widest([&] {
    for (std::int64_t b = 0; b < blocks.count; ++b) {
      // The bits of the largest magnitude; those of what is not finite are larger than others.
      std::uint32_t bits = 0;
      for (std::int64_t i = 0; i < kQuantisedBlock; ++i) {
        const std::uint32_t own = std::bit_cast<std::uint32_t>(x[i]) & 0x7fffffffu;
        bits = own > bits ? own : bits;
      }
      const auto most = std::bit_cast<float>(bits);
      const bool finite = bits < 0x7f800000u;
      float scale = most / 127, inverse = 127 / most;
      if (powers) {
        scale = at_least(scale);
        inverse = 1 / scale;
      }
      *scales = finite ? scale : std::numeric_limits<float>::quiet_NaN();
      if (!finite || most <= kSmallest) inverse = 0;
      std::int32_t sum = 0;
      for (std::int64_t i = 0; i < kQuantisedBlock; ++i) {
        const auto number = finite ? static_cast<std::int32_t>(__builtin_rintf(x[i] * inverse)) : 0;
        numbers[i] = static_cast<std::int8_t>(number);
        sum += number;
      }
      *excess = -offset * sum;
      x += kQuantisedBlock;
      numbers += step * kQuantisedBlock;
      scales += step;
      excess += step;
    }
  });
}

void QuantisedRows::round(const float* x, std::int64_t begin, std::int64_t end) {
  const std::int64_t whole = in_ / kQuantisedBlock;
  for (std::int64_t row = begin; row < end; ++row) {
    round_blocks({x + row * in_, whole}, row, 0);
    if (whole < blocks_) {
      float rest[kQuantisedBlock] = {};
      std::copy_n(x + row * in_ + whole * kQuantisedBlock, in_ % kQuantisedBlock, rest);
      round_blocks({rest, 1}, row, whole);
    }
  }
}

}  // namespace draftlab
