#include "plugins/models/nn/training/adamw.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace draftlab {
namespace {

TEST_CASE("two steps of AdamW by hand") {
  AdamW optimizer;
  optimizer.weight_decay = 0.01;
  std::vector<float> p = {1, -2};
  // The first step moves each parameter by the learning rate against the sign of its gradient,
  // after the decay.
  optimizer.step(p, std::vector<float>{0.5f, -4}, 0.1);
  CHECK(p[0] == doctest::Approx(0.999 - 0.1));
  CHECK(p[1] == doctest::Approx(-1.998 + 0.1));
  // m = 0.9 * 0.05 + 0.1 * 1 = 0.145, unbiased / 0.19; v = 0.999 * 0.00025 + 0.001 = 0.00124975,
  // unbiased / 0.001999.
  optimizer.step(p, std::vector<float>{1, -4}, 0.1);
  CHECK(p[0] ==
        doctest::Approx(0.899 * 0.999 - 0.1 * (0.145 / 0.19) / std::sqrt(0.00124975 / 0.001999)));
  CHECK(optimizer.steps == 2);
}

TEST_CASE("a long gradient is scaled down, a short one left alone") {
  std::vector<float> gradient = {3, 4};
  CHECK(clip(gradient, 10) == doctest::Approx(5));
  CHECK(gradient[1] == 4);
  CHECK(clip(gradient, 1) == doctest::Approx(5));
  CHECK(gradient[0] == doctest::Approx(0.6));
  CHECK(gradient[1] == doctest::Approx(0.8));
}

}  // namespace
}  // namespace draftlab
