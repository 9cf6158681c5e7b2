#include "plugins/models/nn/checkpoint/weight_maker_torch.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <cmath>

namespace draftlab {

at::Tensor Linear::operator()(const at::Tensor& x, bool bf16) const {
  if (!bf16) return at::linear(x, weight, bias);
  return at::linear(x.to(at::kBFloat16), weight.to(at::kBFloat16), bias.to(at::kBFloat16))
      .to(at::kFloat);
}

at::Tensor LayerNorm::operator()(const at::Tensor& x, double epsilon) const {
  return at::layer_norm(x, weight.sizes(), weight, bias, epsilon);
}

MakeTensor random_weights(std::uint64_t seed) {
  return [generator = at::make_generator<at::CPUGeneratorImpl>(seed)](
             const std::string&, const std::vector<std::int64_t>& shape, Start start) {
    const at::NoGradGuard no_grad;
    if (start == Start::ones) return at::ones(shape);
    at::Tensor tensor = at::zeros(shape);
    if (start == Start::embedding) tensor.normal_(0, 0.02, generator);
    if (start == Start::xavier) {
      const double bound = std::sqrt(6.0 / static_cast<double>(shape[0] + shape[1]));
      tensor.uniform_(-bound, bound, generator);
    }
    return tensor;
  };
}

}  // namespace draftlab
