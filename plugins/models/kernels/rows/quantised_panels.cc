#include "plugins/models/kernels/rows/quantised_panels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "plugins/models/kernels/rows/lanes.h"

namespace draftlab {
namespace {

// A block whose largest magnitude is smaller counts as zeros, because its inverse may overflow.
constexpr float kSmallest = 1e-30f;

// Returns the bits of the largest magnitude; those of what is not finite are larger than others.
DRAFTLAB_WIDEST std::uint32_t largest_bits(const float* x, std::int64_t count) {
  std::uint32_t most = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x[i]) & 0x7fffffffu;
    most = bits > most ? bits : most;
  }
  return most;
}

DRAFTLAB_WIDEST std::int32_t to_whole(const float* x, float inverse, std::int64_t count,
                                      std::int8_t* to) {
  std::int32_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto number = static_cast<std::int32_t>(__builtin_rintf(x[i] * inverse));
    to[i] = static_cast<std::int8_t>(number);
    sum += number;
  }
  return sum;
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

void pack_panel(Layout layout, const float* weights, std::int64_t outputs, std::int64_t in,
                char* panel) {
  const std::int64_t blocks = quantised_blocks(in), bytes = block_numbers(layout);
  char* const numbers = panel + scale_bytes(blocks);
  std::memset(panel, 0, panel_bytes(layout, in));
  if (layout == Layout::q4) std::memset(numbers, 0x88, blocks * bytes);
  for (std::int64_t output = 0; output < outputs; ++output) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      float some[kQuantisedBlock] = {};
      std::copy_n(weights + output * in + b * kQuantisedBlock,
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

void unpack_output(Layout layout, const char* panel, std::int64_t output, std::int64_t in,
                   float* weights) {
  const std::int64_t bytes = block_numbers(layout);
  const char* const numbers = panel + scale_bytes(quantised_blocks(in));
  for (std::int64_t i = 0; i < in; ++i) {
    const std::int64_t b = i / kQuantisedBlock;
    const auto [byte, high] = place_of(layout, output, i % kQuantisedBlock);
    const char stored = numbers[b * bytes + byte];
    std::uint16_t scale;
    std::memcpy(&scale, panel + 32 * b + 2 * output, 2);
    const int number = layout == Layout::q8 ? static_cast<std::int8_t>(stored)
                       : high               ? (static_cast<std::uint8_t>(stored) >> 4) - 8
                                            : (stored & 15) - 8;
    weights[i] = static_cast<float>(number) * from_half(scale);
  }
}

void QuantisedRows::resize(Layout layout, std::int64_t rows, std::int64_t in) {
  rows_ = rows;
  in_ = in;
  blocks_ = quantised_blocks(in);
  offset_ = layout == Layout::q8 ? 128 : 8;
  numbers_.resize(rows * blocks_ * kQuantisedBlock);
  scales_.resize(rows * blocks_);
  excess_.resize(rows * blocks_);
}

void QuantisedRows::round(const float* x, std::int64_t begin, std::int64_t end) {
  for (std::int64_t row = begin; row < end; ++row) {
    for (std::int64_t b = 0; b < blocks_; ++b) {
      const float* const from = x + row * in_ + b * kQuantisedBlock;
      const std::int64_t at = b * rows_ + row,
                         count = std::min(kQuantisedBlock, in_ - b * kQuantisedBlock);
      const auto most = std::bit_cast<float>(largest_bits(from, count));
      const bool finite = std::isfinite(most);
      const float inverse = finite && most > kSmallest ? 127 / most : 0;
      scales_[at] = finite ? most / 127 : std::numeric_limits<float>::quiet_NaN();
      char* const to = numbers_.data() + at * kQuantisedBlock;
      if (count < kQuantisedBlock || !finite) std::memset(to, 0, kQuantisedBlock);
      excess_[at] =
          finite ? -offset_ * to_whole(from, inverse, count, reinterpret_cast<std::int8_t*>(to))
                 : 0;
    }
  }
}

}  // namespace draftlab
