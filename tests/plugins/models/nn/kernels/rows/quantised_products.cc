// Products in eight and four bits: every kernel of this processor against sums in f64, each row
// alone, and one kernel against another, bit for bit.
#include "plugins/models/nn/kernels/rows/quantised_products.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <limits>
#include <random>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

namespace draftlab {
namespace {

struct Packed {
  PackedView view;
  std::vector<char> panels;
  std::vector<float> bias;
};

std::vector<float> normals(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> numbers(count);
  for (float& number : numbers) number = normal(generator);
  return numbers;
}

Packed packed(Layout layout, const std::vector<float>& weights, std::int64_t in, std::int64_t out,
              bool biased) {
  const std::int64_t panels = (out + 15) / 16, bytes = panel_bytes(layout, in);
  Packed made{{}, std::vector<char>(panels * bytes), {}};
  for (std::int64_t p = 0; p < panels; ++p)
    pack_panel(layout, {weights.data() + 16 * p * in, std::min<std::int64_t>(16, out - 16 * p)}, in,
               made.panels.data() + p * bytes);
  if (biased) made.bias = normals(16 * panels, 9);
  made.view = {layout, in, out, made.panels.data(), biased ? made.bias.data() : nullptr, bytes};
  return made;
}

std::vector<float> product(const QuantisedKernel& kernel, const Packed& linear,
                           const std::vector<float>& x, std::int64_t rows) {
  QuantisedRows rounded;
  rounded.resize(linear.view.layout, rows, linear.view.in);
  rounded.round(x.data(), 0, rows);
  std::vector<float> y(rows * linear.view.out);
  kernel.multiply(linear.view, rounded, y.data(), {0, linear.view.count()});
  return y;
}

}  // namespace

DOCTEST_TEST_CASE("quantised products: every kernel is exact, the same, and knows no neighbours") {
  const std::vector<QuantisedKernel>& kernels = quantised_kernels();
  std::cout << "products in eight and four bits:";
  for (const QuantisedKernel& kernel : kernels) std::cout << " " << kernel.name;
  std::cout << "\n";
  struct Shape {
    std::int64_t in, out, rows;
  };
  for (const auto& [in, out, rows] :
       {Shape{160, 160, 1}, Shape{160, 48, 8}, Shape{48, 97, 17}, Shape{83, 37, 6},
        Shape{32, 16, 3}, Shape{31, 15, 20}, Shape{768, 16, 16}}) {
    const std::vector<float> weights = normals(in * out, 1), x = normals(rows * in, 2);
    for (const Layout layout : {Layout::q8, Layout::q4}) {
      for (const bool biased : {false, true}) {
        DOCTEST_INFO((layout == Layout::q8 ? "q8, " : "q4, ")
                     << in << " to " << out << ", " << rows << " rows" << (biased ? ", bias" : ""));
        const Packed linear = packed(layout, weights, in, out, biased);
        std::vector<float> kept(in);
        const std::vector<float> first = product(kernels.front(), linear, x, rows);
        double squares = 0, errors = 0;
        for (std::int64_t o = 0; o < out; ++o) {
          unpack_output(linear.view, o, kept.data());
          for (std::int64_t r = 0; r < rows; ++r) {
            double sum = biased ? linear.bias[o] : 0;
            for (std::int64_t i = 0; i < in; ++i)
              sum += static_cast<double>(kept[i]) * static_cast<double>(x[r * in + i]);
            const double error = first[r * out + o] - sum;
            squares += sum * sum;
            errors += error * error;
          }
        }
        // What the rounding of x to eight bits costs.
        DOCTEST_CHECK(std::sqrt(errors / squares) < 0.01);
        for (const QuantisedKernel& kernel : kernels) {
          DOCTEST_INFO(kernel.name);
          const std::vector<float> y = product(kernel, linear, x, rows);
          DOCTEST_CHECK(std::memcmp(y.data(), first.data(), y.size() * sizeof(float)) == 0);
          bool same = true;
          for (std::int64_t r = 0; r < rows; ++r) {
            const std::vector<float> own(x.begin() + r * in, x.begin() + (r + 1) * in),
                alone = product(kernel, linear, own, 1);
            same = same && std::equal(alone.begin(), alone.end(), y.begin() + r * out);
          }
          DOCTEST_CHECK(same);
        }
      }
    }
  }
}

DOCTEST_TEST_CASE("quantised products: a row of the largest numbers overflows nothing") {
  constexpr std::int64_t kIn = 64, kRows = 5;
  // The rows' scale is 1/64 in both layouts, and their numbers are -127.
  constexpr float kEach = -127.0f / 64;
  const std::vector<float> weights(16 * kIn, -1.0f), x(kRows * kIn, kEach);
  for (const Layout layout : {Layout::q8, Layout::q4}) {
    const Packed linear = packed(layout, weights, kIn, 16, false);
    for (const QuantisedKernel& kernel : quantised_kernels())
      for (const float y : product(kernel, linear, x, kRows))
        DOCTEST_CHECK(y == doctest::Approx(-kEach * kIn).epsilon(1e-3));
  }
}

DOCTEST_TEST_CASE("quantised products: only the row that is not finite has such results") {
  constexpr std::int64_t kIn = 40;
  const std::vector<float> weights = normals(16 * kIn, 1);
  std::vector<float> x = normals(3 * kIn, 2);
  x[kIn + 35] = std::numeric_limits<float>::quiet_NaN();
  std::fill(x.begin() + 2 * kIn, x.end(), 1e-36f);
  for (const Layout layout : {Layout::q8, Layout::q4}) {
    const Packed linear = packed(layout, weights, kIn, 16, false);
    for (const QuantisedKernel& kernel : quantised_kernels()) {
      const std::vector<float> y = product(kernel, linear, x, 3);
      for (int o = 0; o < 16; ++o) {
        DOCTEST_CHECK(std::isfinite(y[o]));
        DOCTEST_CHECK(std::isnan(y[16 + o]));
        DOCTEST_CHECK(y[32 + o] == 0);
      }
    }
  }
}

}  // namespace draftlab
