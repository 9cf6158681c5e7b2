// Arithmetic for loops that the compiler turns into vector instructions, on f32 and on bf16 that is
// stored as its bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "plugins/models/nn/kernels/rows/instructions.h"

#define DRAFTLAB_INLINE inline __attribute__((always_inline))

namespace draftlab {

DRAFTLAB_INLINE float widen(float value) { return value; }
DRAFTLAB_INLINE float widen(std::uint16_t bf16) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bf16) << 16);
}
DRAFTLAB_INLINE void narrow(float value, float& to) { to = value; }
DRAFTLAB_INLINE void narrow(float value, std::uint16_t& to) {  // This rounds to nearest even.
  const auto bits = std::bit_cast<std::uint32_t>(value);
  to = static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// Computes e^x to 2e-7 relative, in a form that vectorises: 2^n times a polynomial of the
// remainder. n stays where f32 is normal.
DRAFTLAB_INLINE float exponential(float x) {
  const float scaled = x * 1.44269504f;
  const float whole = (scaled + 12582912.0f) - 12582912.0f;
  const float f = scaled - whole;
  float y = 1.5403530e-4f;
  y = y * f + 1.3333558e-3f;
  y = y * f + 9.6181291e-3f;
  y = y * f + 5.5504109e-2f;
  y = y * f + 2.4022651e-1f;
  y = y * f + 6.9314718e-1f;
  y = y * f + 1.0f;
  return y * std::bit_cast<float>((std::clamp(static_cast<std::int32_t>(whole), -126, 127) + 127)
                                  << 23);
}

// Computes erf(x) to 2e-7 (Abramowitz and Stegun, 7.1.26).
DRAFTLAB_INLINE float error_function(float x) {
  const float size = std::min(std::abs(x), 10.0f), t = 1 / (1 + 0.3275911f * size);
  const float tail =
      ((((1.061405429f * t - 1.453152027f) * t + 1.421413741f) * t - 0.284496736f) * t +
       0.254829592f) *
      t * exponential(-size * size);
  return std::copysign(1 - tail, x);
}

DRAFTLAB_INLINE float silu(float x) { return x / (1 + exponential(-x)); }

// Sums value(i) in sixteen lanes, whatever the machine has.
template <class Value>
DRAFTLAB_INLINE float lane_sum(std::int64_t d, const Value& value) {
  float lanes[16] = {};
  std::int64_t i = 0;
  for (; i + 16 <= d; i += 16)
    for (int j = 0; j < 16; ++j) lanes[j] += value(i + j);
  for (; i < d; ++i) lanes[i % 16] += value(i);
  for (int half = 8; half > 0; half /= 2)
    for (int j = 0; j < half; ++j) lanes[j] += lanes[j + half];
  return lanes[0];
}

// The weights of a norm over rows of `width` numbers; null stands for ones, or zeros.
struct NormView {
  std::int64_t width = 0;
  double epsilon = 0;
  const float* weight = nullptr;
  const float* bias = nullptr;
};

// Computes weight x / rms(x).
DRAFTLAB_INLINE void rms_norm(const NormView& norm, const float* x, float* out) {
  const std::int64_t d = norm.width;
  const float* const weight = norm.weight;
  const float square = lane_sum(d, [&](std::int64_t i) { return x[i] * x[i]; });
  const auto inverse =
      static_cast<float>(1 / std::sqrt(square / static_cast<double>(d) + norm.epsilon));
  for (std::int64_t j = 0; j < d; ++j) out[j] = x[j] * inverse * weight[j];
}

// Computes weight (x - mean) / deviation + bias; without a weight there is no bias.
DRAFTLAB_INLINE void layer_norm(const NormView& norm, const float* x, float* out) {
  const std::int64_t d = norm.width;
  const float *const weight = norm.weight, *const bias = norm.bias;
  const float mean = lane_sum(d, [&](std::int64_t i) { return x[i]; }) / static_cast<float>(d);
  const float square = lane_sum(d, [&](std::int64_t i) { return (x[i] - mean) * (x[i] - mean); });
  const auto inverse =
      static_cast<float>(1 / std::sqrt(square / static_cast<double>(d) + norm.epsilon));
  for (std::int64_t j = 0; j < d; ++j)
    out[j] = weight ? (x[j] - mean) * inverse * weight[j] + bias[j] : (x[j] - mean) * inverse;
}

}  // namespace draftlab
