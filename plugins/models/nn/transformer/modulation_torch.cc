#include "plugins/models/nn/transformer/modulation_torch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/silu.h>

#include "plugins/models/nn/kernels/timestep_features_torch.h"

namespace draftlab {
namespace {

at::Tensor mapped(const Linear& map, const at::Tensor& x) {
  return at::linear(x, map.weight.to(at::kFloat), map.bias.to(at::kFloat));
}

}  // namespace

at::Tensor noise_condition(const NoiseEmbedding& embedding, const at::Tensor& noise) {
  if (!noise.defined()) return {};
  const at::Tensor features = timestep_features(noise).to(embedding.in.weight.device());
  return at::silu(mapped(embedding.out, at::silu(mapped(embedding.in, features))));
}

at::Tensor Modulation::normed(const at::Tensor& x) const {
  return scale.defined() ? x * (1 + scale) + shift : x;
}

at::Tensor Modulation::added(const at::Tensor& x) const { return gate.defined() ? gate * x : x; }

LayerModulation layer_modulation(const Linear& map, const at::Tensor& condition) {
  if (!condition.defined()) return {};
  const std::vector<at::Tensor> parts = mapped(map, condition).chunk(6, -1);
  return {{parts[0], parts[1], parts[2]}, {parts[3], parts[4], parts[5]}};
}

Modulation last_modulation(const Linear& map, const at::Tensor& condition) {
  if (!condition.defined()) return {};
  const std::vector<at::Tensor> parts = mapped(map, condition).chunk(2, -1);
  return {parts[0], parts[1], {}};
}

}  // namespace draftlab
