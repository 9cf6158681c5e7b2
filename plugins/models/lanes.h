// Arithmetic inside loops that the compiler turns into vector instructions, on f32 and on bf16 that is stored as its bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#define DRAFTLAB_INLINE inline __attribute__((always_inline))
// One build serves every processor; the widest vector instructions are chosen when the module is loaded.
#define DRAFTLAB_WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))

namespace draftlab {

DRAFTLAB_INLINE float widen(float value) { return value; }
DRAFTLAB_INLINE float widen(std::uint16_t bf16) { return std::bit_cast<float>(static_cast<std::uint32_t>(bf16) << 16); }
DRAFTLAB_INLINE void narrow(float value, float& to) { to = value; }
DRAFTLAB_INLINE void narrow(float value, std::uint16_t& to) {  // to nearest even
  const auto bits = std::bit_cast<std::uint32_t>(value);
  to = static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// e^x to 2e-7 relative, in a form that vectorises: 2^n times a polynomial of the remainder. n stays where f32 is normal.
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
  return y * std::bit_cast<float>((std::clamp(static_cast<std::int32_t>(whole), -126, 127) + 127) << 23);
}

}  // namespace draftlab
