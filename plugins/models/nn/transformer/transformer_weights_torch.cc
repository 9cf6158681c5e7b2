// The weights of a transformer: their names in the files of each family, reading and writing them.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/files.h"
#include "plugins/models/nn/checkpoint/gguf_weights_torch.h"
#include "plugins/models/nn/checkpoint/llama_weights_torch.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"
#include "plugins/models/nn/kernels/timestep_features_torch.h"
#include "plugins/models/nn/transformer/gpt2_torch.h"
#include "plugins/models/nn/transformer/tensor_names.h"
#include "plugins/models/nn/transformer/transformer_torch.h"

namespace draftlab {
namespace {

// A layer's q, k and v, which some files hold below one another.
constexpr std::array<const char*, 3> kParts = {"q_proj.weight", "k_proj.weight", "v_proj.weight"};

// Calls visit(name, tensor, shape) for the weights of a network, part by part.
template <class Visit>
struct WeightVisit {
  using Shape = std::vector<std::int64_t>;
  const TransformerConfig& config;
  const TensorNames names;
  Visit& visit;
  std::int64_t d = config.hidden_size, head = config.head_dim,
               all = config.num_attention_heads * head, shared = config.num_key_value_heads * head;

  void attention(const std::string& name, auto& layer) const {
    visit(name + "q_proj.weight", layer.q, Shape{all, d});
    visit(name + "k_proj.weight", layer.k, Shape{shared, d});
    visit(name + "v_proj.weight", layer.v, Shape{shared, d});
    visit(name + names.o + ".weight", layer.o, Shape{d, all});
    if (config.qkv_bias()) {
      visit(name + "q_proj.bias", layer.q_bias, Shape{all});
      visit(name + "k_proj.bias", layer.k_bias, Shape{shared});
      visit(name + "v_proj.bias", layer.v_bias, Shape{shared});
    }
    if (config.attention_bias) visit(name + names.o + ".bias", layer.o_bias, Shape{d});
    if (!config.qk_norm()) return;
    visit(name + names.q_norm + ".weight", layer.q_norm, Shape{head});
    visit(name + names.k_norm + ".weight", layer.k_norm, Shape{head});
  }
  void cross_attention(const std::string& name, auto& layer) const {
    const std::string cross = name + "cross_attn.";
    visit(name + "cross_layernorm.weight", layer.cross_layernorm, Shape{d});
    visit(cross + "q_proj.weight", layer.cross_q, Shape{all, d});
    visit(cross + "k_proj.weight", layer.cross_k, Shape{shared, d});
    visit(cross + "v_proj.weight", layer.cross_v, Shape{shared, d});
    visit(cross + "o_proj.weight", layer.cross_o, Shape{d, all});
  }
  void network(const std::string& name, auto& of, std::int64_t inner) const {
    if (config.gated()) visit(name + names.gate + ".weight", of.gate, Shape{inner, d});
    visit(name + names.up + ".weight", of.up, Shape{inner, d});
    visit(name + names.down + ".weight", of.down, Shape{d, inner});
  }
  void experts(const std::string& name, auto& layer) const {
    if (layer.experts.empty()) return;
    visit(name + "gate.weight", layer.router, Shape{config.experts.count, d});
    visit(name + "gate.expert_bias", layer.router_bias, Shape{config.experts.count});
    for (std::size_t e = 0; e < layer.experts.size(); ++e)
      network(name + "experts." + std::to_string(e) + ".", layer.experts[e], config.experts.inner);
  }
  void linear(const std::string& name, auto& of, std::int64_t out, std::int64_t in) const {
    visit(name + ".weight", of.weight, Shape{out, in});
    visit(name + ".bias", of.bias, Shape{out});
  }
  // What makes so many rows of the width d of a condition.
  void modulation(const std::string& name, auto& of, std::int64_t rows) const {
    linear(name, of, rows * d, config.condition_dim);
  }
  void condition(auto& of) const {
    linear(names.condition + "0", of.in, config.condition_dim, kTimestepFeatures);
    linear(names.condition + "2", of.out, config.condition_dim, config.condition_dim);
  }
  void layer(const std::string& name, auto& layer, std::int64_t inner, bool crosses) const {
    const bool gpt2 = config.gpt2();
    const std::string mlp = name + names.mlp;
    visit(name + names.input_norm + ".weight", layer.input_layernorm, Shape{d});
    if (gpt2) visit(name + names.input_norm + ".bias", layer.input_layernorm_bias, Shape{d});
    attention(name + names.attention, layer);
    if (crosses) cross_attention(name, layer);
    visit(name + names.post_norm + ".weight", layer.post_attention_layernorm, Shape{d});
    if (gpt2)
      visit(name + names.post_norm + ".bias", layer.post_attention_layernorm_bias, Shape{d});
    network(mlp + (layer.experts.empty() ? "" : "shared_experts."), layer, inner);
    if (!config.gated()) visit(mlp + names.up + ".bias", layer.up_bias, Shape{inner});
    if (!config.gated()) visit(mlp + names.down + ".bias", layer.down_bias, Shape{d});
    experts(mlp, layer);
    if (config.conditioned()) modulation(name + names.modulation, layer.modulation, 6);
  }
};

// Calls visit(name, tensor, shape) for every weight that a network of this config has.
template <class Net, class Visit>
void each_weight(Net& net, Visit visit) {
  using Shape = std::vector<std::int64_t>;
  const TransformerConfig& config = net.config;
  const std::int64_t d = config.hidden_size;
  const TensorNames names = names_of(config);
  const WeightVisit<Visit> of{config, names, visit};
  visit(names.embedding, net.embed_tokens, Shape{config.vocab_size, d});
  if (config.learned_positions())
    visit("model.embed_positions.weight", net.embed_positions,
          Shape{config.max_position_embeddings, d});
  for (std::size_t i = 0; i < net.encoder.size(); ++i)
    of.layer("model.encoder.layers." + std::to_string(i) + ".", net.encoder[i],
             config.intermediate_size, false);
  if (!net.encoder.empty()) visit("model.encoder.norm.weight", net.encoder_norm, Shape{d});
  for (std::size_t i = 0; i < net.layers.size(); ++i) {
    of.layer(names.layers + std::to_string(i) + ".", net.layers[i],
             config.inner(static_cast<std::int64_t>(i)), !net.encoder.empty());
  }
  visit(names.norm, net.norm, Shape{d});
  if (config.gpt2()) visit("model.norm.bias", net.norm_bias, Shape{d});
  if (!config.tie_word_embeddings)
    visit(names.head + ".weight", net.lm_head, Shape{config.vocab_size, d});
  if (config.sedd()) visit(names.head + ".bias", net.lm_head_bias, Shape{config.vocab_size});
  if (!config.conditioned()) return;
  of.condition(net.condition);
  of.modulation(names.last_modulation, net.modulation, 2);
}

bool is_bias(const std::string& name) { return name.ends_with(".bias"); }
bool is_norm(const std::string& name) {
  return name.find("norm") != std::string::npos || name.find("ln_f") != std::string::npos;
}

// Makes the layers of a network whose tensors are yet to be made. SEDD's norms have no biases:
// zeros stand in their place.
void lay_out(Transformer& net) {
  net.layers.resize(net.config.num_hidden_layers);
  net.encoder.resize(net.config.num_encoder_layers);
  if (net.config.sedd()) {
    net.norm_bias = at::zeros({net.config.hidden_size});
    for (TransformerLayer& layer : net.layers)
      layer.input_layernorm_bias = layer.post_attention_layernorm_bias = net.norm_bias;
  }
  for (std::int64_t i = 0; i < net.config.num_hidden_layers; ++i)
    if (net.config.has_experts(i)) net.layers[i].experts.resize(net.config.experts.count);
}

// Returns a network whose tensors are yet to be made.
Transformer bare(const TransformerConfig& config) {
  TransformerConfig none = config;
  none.num_hidden_layers = none.num_encoder_layers = none.vocab_size =
      none.max_position_embeddings = 0;
  Transformer net(none);
  net.config = config;
  lay_out(net);
  return net;
}

}  // namespace

Transformer::Transformer(const TransformerConfig& config) : config(config) {
  lay_out(*this);
  each_weight(*this, [](const std::string& name, at::Tensor& tensor,
                        const std::vector<std::int64_t>& shape) {
    tensor = is_norm(name) && !is_bias(name) ? at::ones(shape) : at::zeros(shape);
  });
  if (config.tie_word_embeddings) lm_head = embed_tokens;
}

std::vector<std::pair<std::string, at::Tensor>> Transformer::named_parameters() const {
  std::vector<std::pair<std::string, at::Tensor>> all;
  each_weight(*this, [&](const std::string& name, const at::Tensor& tensor,
                         const std::vector<std::int64_t>&) { all.emplace_back(name, tensor); });
  return all;
}

Transformer Transformer::hollow(const TransformerConfig& config) {
  Transformer net = bare(config);
  each_weight(net,
              [](const std::string&, at::Tensor& tensor, const std::vector<std::int64_t>& shape) {
                tensor = at::empty(shape, at::TensorOptions(at::kFloat).device(at::kMeta));
              });
  if (config.tie_word_embeddings) net.lm_head = net.embed_tokens;
  return net;
}

Transformer Transformer::random(const TransformerConfig& config, std::uint64_t seed,
                                double spread) {
  Transformer net(config);
  const at::NoGradGuard no_grad;
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  for (auto& [name, tensor] : net.named_parameters())
    if (!is_norm(name) && !is_bias(name)) tensor.normal_(0, spread, generator);
  return net;
}

namespace {

// Takes all tensors of the network; the names are those of Hugging Face.
template <class Stored>
void take_all(Transformer& net, Stored& weights, std::optional<at::ScalarType> type) {
  // A tied head may be stored, or an untied one left out: both mean the embedding.
  const std::string head = names_of(net.config).head + ".weight";
  if (!weights.has(head))
    net.config.tie_word_embeddings = true;
  else if (net.config.tie_word_embeddings)
    weights.ignore(head);
  each_weight(net, [&](const std::string& name, at::Tensor& tensor,
                       const std::vector<std::int64_t>& shape) {
    tensor = weights.take(name, shape, type);
  });
  if (net.config.tie_word_embeddings) net.lm_head = net.embed_tokens;
}

Transformer load_gguf(const TransformerConfig& config, const std::string& path,
                      std::optional<at::ScalarType> type) {
  if (config.gpt2() || config.llada2() || config.sedd() || config.num_encoder_layers > 0 ||
      config.position_vectors)
    throw DataError("{}: weights of model_type '{}' are read from safetensors alone", path,
                    config.model_type);
  GgufWeights weights(path, config.llama(), config.head_dim);
  weights.expect_divisors(rope_divisors(config.rope, config.rotary()));
  Transformer net = bare(config);
  take_all(net, weights, type);
  weights.expect_all_taken();
  return net;
}

}  // namespace

Transformer Transformer::load(const std::string& checkpoint, std::optional<at::ScalarType> type) {
  TransformerConfig config = TransformerConfig::read(checkpoint);
  const std::vector<std::string> files = weight_files(checkpoint);
  const at::NoGradGuard no_grad;
  if (is_gguf(files.front())) return load_gguf(config, files.front(), type);
  Transformer net = bare(config);
  if (is_llama2c(checkpoint)) {
    Llama2cWeights stored(checkpoint);
    take_all(net, stored, type);
    return net;
  }
  Weights weights(files);
  if (config.gpt2()) {
    take_gpt2(net, weights, type);
  } else {
    const TensorNames names = names_of(config);
    if (!names.fused.empty()) {
      const std::int64_t all = config.num_attention_heads * config.head_dim,
                         shared = config.num_key_value_heads * config.head_dim;
      for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
        const std::string attention = names.layers + std::to_string(i) + "." + names.attention;
        weights.split(attention + names.fused, {{attention + kParts[0], all},
                                                {attention + kParts[1], shared},
                                                {attention + kParts[2], shared}});
      }
    }
    // Some files hold the frequencies, which config.json says.
    for (std::int64_t i = 0; config.llama() && i < config.num_hidden_layers; ++i)
      weights.ignore("model.layers." + std::to_string(i) + ".self_attn.rotary_emb.inv_freq");
    if (config.sedd()) weights.ignore("rotary_emb.inv_freq");
    take_all(net, weights, type);
  }
  weights.expect_all_taken();
  return net;
}

std::vector<std::pair<std::string, at::Tensor>> Transformer::stored_tensors() const {
  if (config.gpt2()) return gpt2_weights(*this);
  auto all = named_parameters();
  const std::string fused = names_of(config).fused;
  if (fused.empty()) return all;
  std::vector<std::pair<std::string, at::Tensor>> joined;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].first.ends_with(kParts[0])) {
      joined.push_back(all[i]);
      continue;
    }
    const std::string attention =
        all[i].first.substr(0, all[i].first.size() - std::string(kParts[0]).size());
    joined.emplace_back(attention + fused,
                        at::cat({all[i].second, all[i + 1].second, all[i + 2].second}));
    i += 2;
  }
  return joined;
}

void Transformer::save(const std::string& folder, bool bf16) const {
  make_folder(folder);
  const at::NoGradGuard no_grad;
  write_weights(folder + "/model.safetensors", stored_tensors(), bf16, {{"format", "pt"}});
  config.write(folder);
}

}  // namespace draftlab
