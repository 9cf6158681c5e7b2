#include "plugins/models/nn/transformer/gpt2_torch.h"

#include <ATen/ops/cat.h>

namespace draftlab {
namespace {

// One stored tensor of a layer, which holds some of our fields one below the other.
struct Stored {
  const char* name;
  std::vector<at::Tensor TransformerLayer::*> parts;
  // With in = 0 it is a vector.
  std::int64_t in, out;
};

std::vector<Stored> layer_tensors(const TransformerConfig& config) {
  using L = TransformerLayer;
  const std::int64_t d = config.hidden_size, inner = config.intermediate_size;
  return {{"ln_1.weight", {&L::input_layernorm}, 0, d},
          {"ln_1.bias", {&L::input_layernorm_bias}, 0, d},
          {"attn.c_attn.weight", {&L::q, &L::k, &L::v}, d, 3 * d},
          {"attn.c_attn.bias", {&L::q_bias, &L::k_bias, &L::v_bias}, 0, 3 * d},
          {"attn.c_proj.weight", {&L::o}, d, d},
          {"attn.c_proj.bias", {&L::o_bias}, 0, d},
          {"ln_2.weight", {&L::post_attention_layernorm}, 0, d},
          {"ln_2.bias", {&L::post_attention_layernorm_bias}, 0, d},
          {"mlp.c_fc.weight", {&L::up}, d, inner},
          {"mlp.c_fc.bias", {&L::up_bias}, 0, inner},
          {"mlp.c_proj.weight", {&L::down}, inner, d},
          {"mlp.c_proj.bias", {&L::down_bias}, 0, d}};
}

}  // namespace

void take_gpt2(Transformer& net, Weights& weights, std::optional<at::ScalarType> type) {
  const TransformerConfig& config = net.config;
  const std::string prefix = weights.has("transformer.wte.weight") ? "transformer." : "";
  net.embed_tokens = net.lm_head =
      weights.take(prefix + "wte.weight", {config.vocab_size, config.hidden_size}, type);
  net.embed_positions = weights.take(prefix + "wpe.weight",
                                     {config.max_position_embeddings, config.hidden_size}, type);
  net.norm = weights.take(prefix + "ln_f.weight", {config.hidden_size}, type);
  net.norm_bias = weights.take(prefix + "ln_f.bias", {config.hidden_size}, type);
  // The head is tied.
  weights.ignore("lm_head.weight");
  for (std::size_t i = 0; i < net.layers.size(); ++i) {
    const std::string layer = prefix + "h." + std::to_string(i) + ".";
    // These buffers hold the causal mask.
    for (const char* const buffer : {"attn.bias", "attn.masked_bias"})
      weights.ignore(layer + buffer);
    for (const Stored& stored : layer_tensors(config)) {
      const bool matrix = stored.in > 0;
      at::Tensor tensor =
          weights.take(layer + stored.name,
                       matrix ? std::vector{stored.in, stored.out} : std::vector{stored.out}, type);
      if (matrix) tensor = tensor.t();
      const std::vector<at::Tensor> parts =
          tensor.chunk(static_cast<std::int64_t>(stored.parts.size()), 0);
      for (std::size_t part = 0; part < parts.size(); ++part)
        net.layers[i].*stored.parts[part] = parts[part];
    }
  }
}

std::vector<std::pair<std::string, at::Tensor>> gpt2_weights(const Transformer& net) {
  std::vector<std::pair<std::string, at::Tensor>> all{{"wte.weight", net.embed_tokens},
                                                      {"wpe.weight", net.embed_positions},
                                                      {"ln_f.weight", net.norm},
                                                      {"ln_f.bias", net.norm_bias}};
  for (std::size_t i = 0; i < net.layers.size(); ++i) {
    for (const Stored& stored : layer_tensors(net.config)) {
      std::vector<at::Tensor> parts;
      for (const auto part : stored.parts) parts.push_back(net.layers[i].*part);
      const at::Tensor joined = at::cat(parts);
      all.emplace_back("h." + std::to_string(i) + "." + stored.name,
                       stored.in > 0 ? joined.t() : joined);
    }
  }
  return all;
}

}  // namespace draftlab
