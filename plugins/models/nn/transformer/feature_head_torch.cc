#include "plugins/models/nn/transformer/feature_head_torch.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "core/base/error.h"
#include "core/base/files.h"
#include "plugins/models/nn/checkpoint/config_file.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"
#include "plugins/models/nn/kernels/decoder_kernels_torch.h"

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

// The layer that config.json of the speculators format states in `transformer_layer_config`, for
// which keys with Llama's own values are left out.
TransformerConfig llama_layer(const ConfigFile& all) {
  const ConfigFile file =
      all.object("transformer_layer_config").value_or(ConfigFile(all.path(), Json::object()));
  file.require("hidden_act", "silu");
  file.require("mlp_bias", false);
  file.require("rope_scaling", nullptr);
  constexpr std::int64_t kWidest = 1 << 20;
  TransformerConfig config;
  config.model_type = "llada";  // Its layers are Llama's; the names of tensors are not read here.
  config.hidden_size = file.integer("hidden_size", 1, kWidest, 4096);
  config.intermediate_size = file.integer("intermediate_size", 1, kWidest, 11008);
  config.num_attention_heads = file.integer("num_attention_heads", 1, 4096, 32);
  config.num_key_value_heads = file.integer("num_key_value_heads", 1, config.num_attention_heads,
                                            config.num_attention_heads);
  config.head_dim =
      file.integer("head_dim", 2, kWidest, config.hidden_size / config.num_attention_heads);
  config.rms_norm_eps = file.value<double>("rms_norm_eps", 1e-6);
  config.rope.theta = file.value<double>("rope_theta", 1e4);
  config.attention_bias = file.value<bool>("attention_bias", false);
  if (config.num_attention_heads % config.num_key_value_heads || config.head_dim % 2)
    throw DataError("{}: its {} attention heads of {} do not share {} of keys and values",
                    file.path(), config.num_attention_heads, config.head_dim,
                    config.num_key_value_heads);
  return config;
}

// Reads a head of the speculators format, by the names of its tensors there.
FeatureHead load_speculator(const std::string& folder, const TransformerConfig& target) {
  const ConfigFile file =
      ConfigFile::in(folder,
                     "a feature head is a folder with feature_head.safetensors, or one "
                     "of the speculators format");
  const std::string& path = file.path();
  if (!file.keys().contains("speculators_model_type"))
    throw DataError("{}: does not say its 'speculators_model_type': it holds no feature head",
                    path);
  file.require("speculators_model_type", "eagle");
  file.require("transformer_layer_architecture", "LlamaDecoderLayer");
  const TransformerConfig shape = llama_layer(file);
  if (shape.hidden_size != target.hidden_size)
    throw DataError("{}: its head reads states of {} numbers, and the target has {}", path,
                    shape.hidden_size, target.hidden_size);
  if (target.num_encoder_layers > 0)
    throw DataError(
        "{}: a head of the speculators format attends no encoder, and the target has one", path);
  const bool norms = file.value<bool>("layernorms", false);
  FeatureHead head(shape);
  TransformerLayer& layer = head.net.layers.front();
  head.parameters.clear();
  const auto reads = [&](const std::string& name, at::Tensor& tensor, bool there = true) {
    if (!tensor.defined()) return;
    if (there)
      head.parameters.emplace_back(name, tensor);
    else
      tensor = at::Tensor();
  };
  head.embedding_norm = at::zeros({shape.hidden_size});
  reads("embedding_layernorm.weight", head.embedding_norm, norms);
  reads("fusion_fc.weight", head.join);
  if (file.value<bool>("fusion_bias", false)) reads("fusion_fc.bias", head.join_bias);
  reads("transformer.input_layernorm.weight", layer.input_layernorm, norms);
  const std::string attention = "transformer.self_attn.", mlp = "transformer.mlp.";
  reads(attention + "q_proj.weight", layer.q);
  reads(attention + "k_proj.weight", layer.k);
  reads(attention + "v_proj.weight", layer.v);
  reads(attention + "o_proj.weight", layer.o);
  reads(attention + "q_proj.bias", layer.q_bias);
  reads(attention + "k_proj.bias", layer.k_bias);
  reads(attention + "v_proj.bias", layer.v_bias);
  reads(attention + "o_proj.bias", layer.o_bias);
  reads("transformer.post_attention_layernorm.weight", layer.post_attention_layernorm);
  reads(mlp + "gate_proj.weight", layer.gate);
  reads(mlp + "up_proj.weight", layer.up);
  reads(mlp + "down_proj.weight", layer.down);
  reads("pre_lm_head_layernorm.weight", head.net.norm, norms);
  Weights weights(weight_files(folder));
  // What the target lends may be stored beside the head.
  for (const char* lent : {"embed_tokens.weight", "lm_head.weight"}) weights.ignore(lent);
  for (auto& [name, tensor] : head.parameters)
    tensor.copy_(weights.take(name, tensor.sizes().vec(), at::kFloat));
  weights.expect_all_taken();
  return head;
}

bool is_own(const std::string& folder) { return std::filesystem::is_regular_file(file_in(folder)); }

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
  return is_own(folder) ? SafetensorsFile(file_in(folder)).digest() : weights_digest(folder);
}

FeatureHead FeatureHead::load(const std::string& folder, const TransformerConfig& target,
                              const std::string& base) {
  const at::NoGradGuard no_grad;
  if (!is_own(folder)) return load_speculator(folder, target);
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
  const at::Tensor normed =
      rms_norm(embedding, embedding_norm, net.config.rms_norm_eps, at::kFloat);
  return at::linear(compute(at::cat({normed, state}, -1)), compute(join), compute(join_bias))
      .to(at::kFloat);
}

}  // namespace draftlab
