// Weights of eight and four bits, in blocks of 32 neighbouring inputs with a scale of f16: the
// numbers of llama.cpp's formats Q8_0 and Q4_0, rounded as its reference code rounds them.
#pragma once

#include <cstdint>

namespace draftlab {

constexpr std::int64_t kQuantisedBlock = 32;

std::uint16_t to_half(float value);
float from_half(std::uint16_t bits);

// Numbers times a scale: whole numbers in [-127, 127] (Q8_0) or in [-8, 7] (Q4_0).
struct QuantisedBlock {
  std::uint16_t scale = 0;
  std::int8_t numbers[kQuantisedBlock] = {};
};

// Rounds 32 weights: the largest magnitude becomes 127. A weight that is not finite, or whose scale
// is beyond f16, makes the scale not finite, too, so that no product hides it.
QuantisedBlock eight_bits(const float* weights);
// Rounds 32 weights: the one of largest magnitude becomes -8. A block that lies on a grid of four
// bits already, as one read from a Q4_0 file does, keeps this grid.
QuantisedBlock four_bits(const float* weights);

}  // namespace draftlab
