// AdamW (Loshchilov and Hutter, 2019) on one flat array of parameters.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace draftlab {

struct AdamW {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0.01;
  // The first and second moments.
  std::vector<float> first, second;
  std::int64_t steps = 0;

  void step(std::span<float> parameters, std::span<const float> gradient, double rate);
};

// Scales the gradient down to the norm `most`. Returns its norm before.
double clip(std::span<float> gradient, double most);

}  // namespace draftlab
