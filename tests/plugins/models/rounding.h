// How far apart two computations of one thing may lie that round in different orders, as those of
// two instruction sets do.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace draftlab::testing {

// What a number goes through: so many layers, whose sums have the lengths of a width, of an inner
// width and of the positions that are attended.
struct Passed {
  double layers, width, inner, positions;
  // Besides the layers: a backward pass has as many sums as the forward, and a batch's gradient is
  // a sum over rows.
  double passes = 1, rows = 0;
};

// The roundings one after another: in a layer two norms, two projections in and two out of which
// one is as long as the inner width, the heads' products and what they attend; then a norm and the
// vocabulary's projection.
inline double roundings(const Passed& passed) {
  const double layer = 6 * passed.width + passed.inner + passed.positions;
  return passed.passes * (passed.layers * layer + 2 * passed.width) + passed.rows;
}

constexpr double kF32Unit = std::numeric_limits<float>::epsilon() / 2;
constexpr double kBf16Unit = 0x1p-9;

// The relative error of n roundings to nearest, gamma_n = n u / (1 - n u), where errors are
// independent and n becomes lambda sqrt(n) (Higham and Mary, 2019); lambda = 6 fails once in 10^7.
inline double gamma(double n, double unit = kF32Unit) {
  constexpr double kLambda = 6;
  const double grown = kLambda * std::sqrt(n) * unit;
  return grown / (1 - grown);
}

// The most by which two such computations differ whose largest number is `largest`.
inline double rounding(const Passed& passed, double largest = 1) {
  return 2 * gamma(roundings(passed)) * largest;
}

// The most by which numbers up to `largest` move where rows are rounded to bf16 before they meet
// weights, which processors that multiply bf16 do and others do not: the rows of four products in a
// layer and of the vocabulary's, and with matrix tiles also what attention keeps and its shares.
inline double bf16_rounding(double layers, double largest) {
  return gamma(6 * layers + 1, kBf16Unit) * largest;
}

}  // namespace draftlab::testing
