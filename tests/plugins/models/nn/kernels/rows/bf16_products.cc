// Products of bf16: every way of this processor against sums in f64, and each row alone.
#include "plugins/models/nn/kernels/rows/bf16_products.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iostream>
#include <random>
#include <string_view>
#include <vector>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

namespace draftlab {
namespace {

constexpr std::string_view kWays[] = {"tiles", "pairs", "widened"};

// Numbers that bf16 holds.
std::vector<float> halves(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> numbers(count);
  for (float& number : numbers)
    number = std::bit_cast<float>(std::bit_cast<std::uint32_t>(normal(generator)) & 0xffff0000U);
  return numbers;
}

struct Shape {
  std::int64_t in, out;
  std::int64_t panels() const { return (out + 15) / 16; }
  // What fills the last tile is zero.
  std::int64_t padded_in() const { return (in + kTileInputs - 1) / kTileInputs * kTileInputs; }
};

// Weights [out, in] in panels of sixteen outputs: of each, pairs of inputs.
std::vector<std::uint16_t> packed(const std::vector<float>& weights, Shape shape) {
  std::vector<std::uint16_t> panels(shape.panels() * shape.padded_in() * 16);
  for (std::int64_t o = 0; o < shape.out; ++o)
    for (std::int64_t i = 0; i < shape.in; ++i)
      panels[o / 16 * shape.padded_in() * 16 + i / 2 * 32 + o % 16 * 2 + i % 2] =
          static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(weights[o * shape.in + i]) >> 16);
  return panels;
}

std::vector<float> product(const PackedView& linear, const float* x, std::int64_t rows,
                           Bf16Way way) {
  std::vector<char> tiles(tiled_bytes(rows, linear.in));
  tile_rows({x, rows}, linear.in, {0, tiled_count(rows)}, tiles.data());
  std::vector<float> y(rows * linear.out);
  multiply_tiles(linear, {tiles.data(), rows}, y.data(), {0, (linear.count() + 1) / 2}, way);
  return y;
}

// The largest error of y, in parts of the sum of the products' sizes.
double largest_error(const std::vector<float>& y, const std::vector<float>& weights,
                     const std::vector<float>& x, Shape shape, const float* bias) {
  double largest = 0;
  for (std::size_t at = 0; at < y.size(); ++at) {
    const std::int64_t r = static_cast<std::int64_t>(at) / shape.out,
                       o = static_cast<std::int64_t>(at) % shape.out;
    double sum = bias ? bias[o] : 0, size = std::abs(sum);
    for (std::int64_t i = 0; i < shape.in; ++i) {
      const double one =
          static_cast<double>(weights[o * shape.in + i]) * static_cast<double>(x[r * shape.in + i]);
      sum += one;
      size += std::abs(one);
    }
    largest = std::max(largest, std::abs(static_cast<double>(y[at]) - sum) / size);
  }
  return largest;
}

}  // namespace

DOCTEST_TEST_CASE("products of bf16: every way is a product, and knows no neighbours") {
  std::cout << "products of bf16:";
  for (const Bf16Way way : bf16_ways()) std::cout << " " << kWays[static_cast<int>(way)];
  std::cout << (bf16_ways().empty() ? " skipped, this processor has no AVX-512 BF16\n" : "\n");
  for (const Shape shape : {Shape{70, 64}, Shape{64, 49}, Shape{31, 15}, Shape{256, 80}}) {
    const std::vector<float> weights = halves(shape.in * shape.out, 1),
                             bias = halves(16 * shape.panels(), 2);
    const std::vector<std::uint16_t> panels = packed(weights, shape);
    for (const std::int64_t rows : {1, 2, 3, 8, 13, 14, 16, 17, 30, 32, 33, 70}) {
      const std::vector<float> x = halves(rows * shape.in, 3);
      for (const float* const with : {static_cast<const float*>(nullptr), bias.data()}) {
        const PackedView linear{Layout::tiles, shape.in, shape.out,
                                panels.data(), with,     shape.padded_in() * 16};
        for (const Bf16Way way : bf16_ways()) {
          DOCTEST_INFO(shape.in << " to " << shape.out << ", " << rows << " rows, "
                                << kWays[static_cast<int>(way)]);
          const std::vector<float> y = product(linear, x.data(), rows, way);
          // A sum is rounded to 24 bits once a product, to the nearest, on any processor.
          const double bound = static_cast<double>(shape.in + 1) * 0x1p-24;
          DOCTEST_CHECK(largest_error(y, weights, x, shape, with) < bound);
          bool same = true;
          for (std::int64_t r = 0; r < rows; ++r) {
            const std::vector<float> alone = product(linear, x.data() + r * shape.in, 1, way);
            same = same && std::equal(alone.begin(), alone.end(), y.begin() + r * shape.out);
          }
          DOCTEST_CHECK(same);
        }
      }
    }
  }
}

}  // namespace draftlab
