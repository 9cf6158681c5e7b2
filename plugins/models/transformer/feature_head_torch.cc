#include "plugins/models/transformer/feature_head_torch.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <string_view>

#include "core/base/error.h"
#include "core/base/files.h"
#include "plugins/models/checkpoint/weights_torch.h"

namespace draftlab {
namespace {

std::string file_in(const std::string& folder) { return folder + "/feature_head.safetensors"; }

TransformerConfig shape_for(TransformerConfig config) {
  config.num_hidden_layers = 1;
  config.num_encoder_layers = std::min<std::int64_t>(1, config.num_encoder_layers);
  config.vocab_size = 0;
  config.tie_word_embeddings = true;
  return config;
}

}  // namespace

FeatureHead::FeatureHead(const TransformerConfig& target) : net(shape_for(target)) {
  const std::int64_t d = target.hidden_size;
  join = at::zeros({d, 2 * d});
  join_bias = at::zeros({d});
  parameters = {{"fc.weight", join}, {"fc.bias", join_bias}};
  constexpr std::string_view kRoom = "model.";
  for (const auto& [name, tensor] : net.named_parameters()) {
    const std::string own = name.substr(kRoom.size());
    if (own.starts_with("layers.") || own == "norm.weight" || own == "encoder.norm.weight")
      parameters.emplace_back(own, tensor);
  }
  net.embed_tokens = net.lm_head = at::Tensor();
  net.encoder.clear();
}

FeatureHead FeatureHead::random(const Transformer& target, std::uint64_t seed, double spread) {
  const at::NoGradGuard no_grad;
  FeatureHead head(target.config);
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  for (auto& [name, tensor] : head.parameters)
    if (tensor.dim() > 1) tensor.normal_(0, spread, generator);
  head.net.norm.copy_(target.norm);
  return head;
}

std::string FeatureHead::digest(const std::string& folder) {
  return SafetensorsFile(file_in(folder)).digest();
}

FeatureHead FeatureHead::load(const std::string& folder, const TransformerConfig& target,
                              const std::string& base) {
  const at::NoGradGuard no_grad;
  Weights weights({file_in(folder)});
  const auto made_for = weights.metadata().find("base");
  if (made_for == weights.metadata().end())
    throw DataError("{}: does not say its 'base': it holds no feature head", file_in(folder));
  if (made_for->second != base) {
    throw DataError("{}: its head was made for a base whose weights have digest {}, not {}",
                    file_in(folder), made_for->second, base);
  }
  FeatureHead head(target);
  for (auto& [name, tensor] : head.parameters)
    tensor.copy_(weights.take(name, tensor.sizes().vec(), at::kFloat));
  weights.expect_all_taken();
  return head;
}

void FeatureHead::save(const std::string& folder, bool bf16, const std::string& base) const {
  make_folder(folder);
  write_weights(file_in(folder), parameters, bf16, {{"base", base}});
}

at::Tensor FeatureHead::joined(const at::Tensor& embedding, const at::Tensor& state,
                               bool bf16) const {
  const auto compute = [bf16](const at::Tensor& x) { return bf16 ? x.to(at::kBFloat16) : x; };
  return at::linear(compute(at::cat({embedding, state}, -1)), compute(join), compute(join_bias))
      .to(at::kFloat);
}

}  // namespace draftlab
