#include "plugins/models/nn/training/adamw.h"

#include <cmath>

namespace draftlab {

void AdamW::step(std::span<float> parameters, std::span<const float> gradient, double rate) {
  first.resize(parameters.size());
  second.resize(parameters.size());
  steps++;
  const auto b1 = static_cast<float>(beta1), b2 = static_cast<float>(beta2),
             eps = static_cast<float>(epsilon);
  const auto keep = static_cast<float>(1 - rate * weight_decay);
  const auto pace = static_cast<float>(rate / (1 - std::pow(beta1, static_cast<double>(steps))));
  const auto unbias = static_cast<float>(1 / (1 - std::pow(beta2, static_cast<double>(steps))));
  float *p = parameters.data(), *m = first.data(), *v = second.data();
  const float* g = gradient.data();
  for (std::size_t i = 0; i < parameters.size(); i++) {
    m[i] = b1 * m[i] + (1 - b1) * g[i];
    v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
    p[i] = keep * p[i] - pace * m[i] / (std::sqrt(v[i] * unbias) + eps);
  }
}

double clip(std::span<float> gradient, double most) {
  double square = 0;
  for (float g : gradient) square += static_cast<double>(g) * g;
  const double norm = std::sqrt(square);
  if (norm > most) {
    const auto scale = static_cast<float>(most / norm);
    for (float& g : gradient) g *= scale;
  }
  return norm;
}

}  // namespace draftlab
