// What attention keeps: written by output or by input, growing, multiplied in either layout.
#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include <vector>

#include "plugins/models/nn/kernels/rows/bf16_products.h"
#include "plugins/models/nn/kernels/rows/panels.h"

namespace draftlab {
namespace {

constexpr std::int64_t kMatrices = 3;

// A number of few bits, so that bf16 holds it and sums of products are exact.
float few_bits(std::int64_t i, std::int64_t j) {
  return static_cast<float>((i * 37 + j * 11) % 61 - 30) / 8;
}

std::vector<Layout> layouts() {
  std::vector<Layout> all{Layout::f32};
  if (has_bf16_products()) all.push_back(Layout::tiles);
  return all;
}

}  // namespace

DOCTEST_TEST_CASE("panels keep what was written while they grow, and multiply as a matrix does") {
  struct Size {
    std::int64_t outputs, inputs, rows;
  };
  for (const Layout layout : layouts()) {
    for (const auto& [outputs, inputs, rows] :
         {Size{1, 1, 1}, Size{16, 32, 3}, Size{48, 20, 17}, Size{80, 64, 2}, Size{7, 100, 33},
          Size{130, 64, 50}}) {
      DOCTEST_INFO("layout " << static_cast<int>(layout) << ", " << inputs << " to " << outputs
                             << ", " << rows << " rows");
      Panels by_output(kMatrices), by_input(kMatrices);
      std::vector<float> numbers;
      for (std::int64_t o = 0; o < outputs; ++o) {
        by_output.settle(layout, o + 1, inputs);
        for (std::int64_t m = 0; m < kMatrices; ++m) {
          numbers.clear();
          for (std::int64_t i = 0; i < inputs; ++i) numbers.push_back(few_bits(o + m, i));
          by_output.set_output(m, o, numbers.data(), inputs);
        }
      }
      for (std::int64_t i = 0; i < inputs; ++i) {
        by_input.settle(layout, outputs, i + 1);
        for (std::int64_t m = 0; m < kMatrices; ++m) {
          numbers.clear();
          for (std::int64_t o = 0; o < outputs; ++o) numbers.push_back(few_bits(o + m, i));
          by_input.set_input(m, i, numbers.data(), outputs);
        }
      }
      std::vector<float> x;
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t i = 0; i < inputs; ++i) x.push_back(few_bits(i, r + 5));
      std::vector<float> y(rows * outputs), z(y.size()), alone(outputs);
      bool kept = true, right = true, same = true;
      for (std::int64_t m = 0; m < kMatrices; ++m) {
        product(by_output.view(m, 0, outputs, inputs), {x.data(), rows}, y.data());
        product(by_input.view(m, 0, outputs, inputs), {x.data(), rows}, z.data());
        for (std::int64_t o = 0; o < outputs; ++o) {
          for (std::int64_t i = 0; i < inputs; ++i)
            kept = kept && by_output.at(m, o, i) == few_bits(o + m, i) &&
                   by_input.at(m, o, i) == few_bits(o + m, i);
        }
        for (std::int64_t r = 0; r < rows; ++r) {
          product(by_input.view(m, 0, outputs, inputs), {x.data() + r * inputs, 1}, alone.data());
          for (std::int64_t o = 0; o < outputs; ++o) {
            float sum = 0;
            for (std::int64_t i = 0; i < inputs; ++i) sum += few_bits(o + m, i) * x[r * inputs + i];
            right = right && y[r * outputs + o] == sum && z[r * outputs + o] == sum;
            same = same && alone[o] == y[r * outputs + o];
          }
        }
      }
      DOCTEST_CHECK(kept);
      DOCTEST_CHECK(right);
      DOCTEST_CHECK(same);
    }
  }
}

DOCTEST_TEST_CASE("a view begins at any panel") {
  for (const Layout layout : layouts()) {
    Panels panels(1);
    panels.settle(layout, 40, 3);
    for (std::int64_t o = 0; o < 40; ++o) {
      const float row[] = {few_bits(o, 0), few_bits(o, 1), few_bits(o, 2)};
      panels.set_output(0, o, row, 3);
    }
    const float x[] = {1, 2, 4};
    std::vector<float> y(16);
    product(panels.view(0, 16, 16, 3), {x, 1}, y.data());
    for (std::int64_t o = 0; o < 16; ++o)
      DOCTEST_CHECK(y[o] ==
                    few_bits(16 + o, 0) + 2 * few_bits(16 + o, 1) + 4 * few_bits(16 + o, 2));
  }
}

}  // namespace draftlab
