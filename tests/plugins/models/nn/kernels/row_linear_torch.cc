// Products of a few rows against ATen's, and each row alone.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <iostream>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "plugins/models/nn/kernels/row_linear_torch.h"
#include "plugins/models/nn/kernels/rows/bf16_products.h"
#include "tests/plugins/models/rounding.h"

namespace draftlab {

DOCTEST_TEST_CASE("products of rows equal ATen's, and no row depends on the others") {
  at::set_num_threads(1);
  const at::NoGradGuard no_grad;
  auto generator = at::make_generator<at::CPUGeneratorImpl>(5);
  std::cout << "row products in bf16: "
            << (has_matrix_tiles()    ? "matrix tiles"
                : has_bf16_products() ? "pairs of inputs"
                                      : "vectors")
            << "\n";
  using Shape = std::array<std::int64_t, 3>;  // The numbers of inputs, outputs and rows.
  for (const auto& [in, out, rows] : {Shape{160, 160, 1}, Shape{160, 480, 8}, Shape{48, 97, 17},
                                      Shape{83, 48, 33}, Shape{32, 16, 16}, Shape{31, 15, 70}}) {
    for (const Precision precision :
         {Precision::f32, Precision::bf16, Precision::q8, Precision::q4}) {
      for (const bool with_bias : {false, true}) {
        DOCTEST_INFO(in << " to " << out << ", " << rows << " rows"
                        << ", precision " << static_cast<int>(precision)
                        << (with_bias ? ", bias" : ""));
        // Numbers that bf16 holds, so that both sides round nothing but sums.
        const auto held = [&](at::IntArrayRef shape) {
          return at::randn(shape, generator).to(at::kBFloat16).to(at::kFloat);
        };
        const at::Tensor weight = held({out, in}), x = held({rows, in}),
                         bias = with_bias ? held({out}) : at::Tensor();
        const RowLinear linear(weight, bias, precision);
        at::Tensor together = at::zeros({rows, out}), alone = at::zeros({rows, out});
        linear.apply(x.data_ptr<float>(), rows, together.data_ptr<float>());
        for (std::int64_t i = 0; i < rows; ++i)
          linear.apply(x[i].data_ptr<float>(), 1, alone[i].data_ptr<float>());
        // In q8 and q4 these are the weights as they are kept, and x loses what its rounding costs.
        at::Tensor kept = at::zeros({out, in});
        for (std::int64_t o = 0; o < out; ++o) linear.weights_of(o, kept[o].data_ptr<float>());
        const at::Tensor sums = at::linear(x, kept, bias),
                         sizes = at::linear(x.abs(), kept.abs()) + 3;
        const at::Tensor apart = ((together - sums).abs() / sizes).max();
        if (is_quantised(precision))
          DOCTEST_CHECK((together - sums).abs().max().item<float>() < 0.5f);
        else
          DOCTEST_CHECK(apart.item<double>() < 2 * testing::gamma(static_cast<double>(in) + 1));
        const float rounded = precision == Precision::q4   ? 0.4f
                              : precision == Precision::q8 ? 0.02f
                                                           : 0;
        DOCTEST_CHECK((kept - weight).abs().max().item<float>() <= rounded);
        DOCTEST_CHECK(at::equal(together, alone));
      }
    }
  }
}

}  // namespace draftlab
