// Blocks of eight and four bits: f16, and how numbers are rounded.
#include "plugins/models/nn/kernels/rows/quantised_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

namespace draftlab {
namespace {

// Returns the weight of number `i` as the block keeps it.
float kept(const QuantisedBlock& block, std::int64_t i) {
  return static_cast<float>(block.numbers[i]) * from_half(block.scale);
}

std::vector<float> waves(float size) {
  std::vector<float> weights;
  for (std::int64_t i = 0; i < kQuantisedBlock; ++i)
    weights.push_back(size * std::sin(static_cast<float>(3 * i + 1)));
  return weights;
}

}  // namespace

DOCTEST_TEST_CASE("every f16 is read and written back, and f32 is rounded to the nearest") {
  for (std::uint32_t bits = 0; bits < 1u << 16; ++bits) {
    const float value = from_half(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) {
      DOCTEST_CHECK(std::isnan(from_half(to_half(value))));
      continue;
    }
    DOCTEST_REQUIRE(to_half(value) == bits);
    // Between this number and the next of its sign: the nearer one, and in the middle the even one.
    if ((bits & 0x7fffu) >= 0x7bffu) continue;
    const float next = from_half(static_cast<std::uint16_t>(bits + 1)), middle = (value + next) / 2;
    DOCTEST_REQUIRE(to_half(middle) == bits + (bits & 1u));
    DOCTEST_REQUIRE(to_half(std::nextafter(middle, value)) == bits);
    DOCTEST_REQUIRE(to_half(std::nextafter(middle, next)) == bits + 1);
  }
  DOCTEST_CHECK(to_half(65519.0f) == 0x7bff);
  DOCTEST_CHECK(to_half(65520.0f) == 0x7c00);
  DOCTEST_CHECK(to_half(-1e30f) == 0xfc00);
  DOCTEST_CHECK(to_half(1e-30f) == 0);
}

DOCTEST_TEST_CASE(
    "eight bits: the largest weight becomes 127, and none is more than half a step off") {
  std::vector<float> weights = waves(2);
  weights[5] = -2.54f;
  const QuantisedBlock block = eight_bits(weights.data());
  DOCTEST_CHECK(block.scale == to_half(0.02f));
  DOCTEST_CHECK(block.numbers[5] == -127);
  for (std::int64_t i = 0; i < kQuantisedBlock; ++i)
    DOCTEST_CHECK(std::abs(kept(block, i) - weights[i]) < 0.0101f);
}

DOCTEST_TEST_CASE("four bits: the largest weight becomes -8, and others round as Q4_0 does") {
  std::vector<float> weights = waves(1);
  weights[7] = 1.6f;  // One step is -0.2.
  const QuantisedBlock block = four_bits(weights.data());
  DOCTEST_CHECK(block.scale == to_half(-0.2f));
  DOCTEST_CHECK(block.numbers[7] == -8);
  for (std::int64_t i = 0; i < kQuantisedBlock; ++i)
    DOCTEST_CHECK(std::abs(kept(block, i) - weights[i]) < 0.1002f);
  // The other end of the grid is cut: -1.6 is 8 steps, of which there are 7.
  weights[8] = -1.6f;
  DOCTEST_CHECK(four_bits(weights.data()).numbers[8] == 7);
}

DOCTEST_TEST_CASE("what was rounded once is kept when it is rounded again") {
  for (const float size : {1e-3f, 0.7f, 40.0f}) {
    const std::vector<float> weights = waves(size);
    const QuantisedBlock eight = eight_bits(weights.data()), four = four_bits(weights.data());
    std::vector<float> from_eight, from_four, shorter;
    for (std::int64_t i = 0; i < kQuantisedBlock; ++i) {
      from_eight.push_back(kept(eight, i));
      from_four.push_back(kept(four, i));
      // A grid whose lower end no weight reaches, as other programs' rounding leaves it.
      shorter.push_back(from_half(four.scale) *
                        static_cast<float>(std::max<int>(four.numbers[i], -7)));
    }
    const QuantisedBlock again = eight_bits(from_eight.data()), twice = four_bits(from_four.data()),
                         inner = four_bits(shorter.data());
    DOCTEST_CHECK(again.scale == eight.scale);
    DOCTEST_CHECK(std::memcmp(again.numbers, eight.numbers, kQuantisedBlock) == 0);
    for (std::int64_t i = 0; i < kQuantisedBlock; ++i) {
      DOCTEST_CHECK(kept(twice, i) == from_four[i]);
      DOCTEST_CHECK(kept(inner, i) == shorter[i]);
    }
  }
}

DOCTEST_TEST_CASE("a block of zeros stays zeros, and what is not finite is not hidden") {
  const std::vector<float> zeros(kQuantisedBlock);
  for (const QuantisedBlock& block : {eight_bits(zeros.data()), four_bits(zeros.data())})
    for (std::int64_t i = 0; i < kQuantisedBlock; ++i) DOCTEST_CHECK(kept(block, i) == 0);
  for (const float bad :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 1e9f}) {
    std::vector<float> weights = waves(1);
    weights[31] = bad;
    DOCTEST_CHECK_FALSE(std::isfinite(from_half(eight_bits(weights.data()).scale)));
    DOCTEST_CHECK_FALSE(std::isfinite(from_half(four_bits(weights.data()).scale)));
  }
}

}  // namespace draftlab
