#include "plugins/models/nn/kernels/rows/quantised_blocks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace draftlab {
namespace {

// Returns the weight of largest magnitude, and not-a-number where any weight is not finite.
float largest(const float* weights) {
  float most = 0;
  for (std::int64_t i = 0; i < kQuantisedBlock; ++i) {
    if (!std::isfinite(weights[i])) return std::numeric_limits<float>::quiet_NaN();
    if (std::abs(weights[i]) > std::abs(most)) most = weights[i];
  }
  return most;
}

// Puts the weights onto the grid of `scale`, and returns whether they all lie on it exactly.
bool on_grid(const float* weights, std::uint16_t scale, QuantisedBlock& block) {
  const float step = from_half(scale);
  if (step == 0 || !std::isfinite(step)) return false;
  block.scale = scale;
  for (std::int64_t i = 0; i < kQuantisedBlock; ++i) {
    const float number = std::nearbyint(weights[i] / step);
    if (number < -8 || number > 7 || number * step != weights[i]) return false;
    block.numbers[i] = static_cast<std::int8_t>(number);
  }
  return true;
}

}  // namespace

std::uint16_t to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const float size = std::bit_cast<float>(bits & 0x7fffffffu);
  if (std::isnan(size)) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (size >= 65520.0f) return static_cast<std::uint16_t>(sign | 0x7c00u);
  // Below the normal numbers of f16, neighbours are 2^-24 apart.
  if (size < 0x1p-14f)
    return static_cast<std::uint16_t>(sign | static_cast<int>(std::nearbyint(size * 0x1p24f)));
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u) - (112u << 23);
  return static_cast<std::uint16_t>(sign | rounded >> 13);
}

float from_half(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31u,
                      fraction = bits & 0x3ffu;
  if (exponent == 0) {
    const float size = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -size : size;
  }
  const std::uint32_t wide = exponent == 31 ? 255u : exponent + 112u;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

QuantisedBlock eight_bits(const float* weights) {
  QuantisedBlock block;
  const float scale = std::abs(largest(weights)) / 127, inverse = scale > 0 ? 1 / scale : 0;
  block.scale = to_half(scale);
  if (!std::isfinite(inverse)) return block;
  for (std::int64_t i = 0; i < kQuantisedBlock; ++i)
    block.numbers[i] = static_cast<std::int8_t>(std::round(weights[i] * inverse));
  return block;
}

QuantisedBlock four_bits(const float* weights) {
  QuantisedBlock block;
  const float most = largest(weights);
  // The grids on which `most` is a whole number.
  for (int number = -8; number <= 7; ++number) {
    const std::uint16_t step = to_half(number == 0 ? 0 : most / static_cast<float>(number));
    if (from_half(step) * static_cast<float>(number) == most && on_grid(weights, step, block))
      return block;
  }
  block = {};
  const float scale = most / -8, inverse = scale != 0 ? 1 / scale : 0;
  block.scale = to_half(scale);
  if (!std::isfinite(inverse)) return block;
  for (std::int64_t i = 0; i < kQuantisedBlock; ++i) {
    const int above = static_cast<int>(weights[i] * inverse + 8.5f);
    block.numbers[i] = static_cast<std::int8_t>(std::min(15, above) - 8);
  }
  return block;
}

}  // namespace draftlab
