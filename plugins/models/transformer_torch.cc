#include "plugins/models/transformer_torch.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "plugins/models/gpt2_torch.h"
#include "plugins/models/weights_torch.h"

namespace draftlab {
namespace {

using Json = nlohmann::json;

Json parsed(const std::string& path, const std::string& hint) {
  std::ifstream file(path);
  if (!file) throw DataError(path + ": cannot be read; " + hint);
  Json json = Json::parse(file, nullptr, false);
  if (!json.is_object()) throw DataError(path + ": is not a JSON object");
  return json;
}

// One key of config.json; `fallback` where it is absent or null.
template <class T>
T value(const Json& json, const std::string& path, const char* key, const T& fallback) {
  if (!json.contains(key) || json[key].is_null()) return fallback;
  try {
    return json[key].get<T>();
  } catch (const Json::exception&) {
    throw DataError(path + ": '" + key + "' is " + json[key].dump().substr(0, 60) + ", which has the wrong type");
  }
}

// An integer in [low, high]; `fallback` where it is absent, or DataError when that lies outside.
std::int64_t integer(const Json& json, const std::string& path, const char* key, std::int64_t low, std::int64_t high, std::int64_t fallback) {
  const bool given = json.contains(key) && !json[key].is_null();
  if (given && !json[key].is_number_integer()) throw DataError(path + ": '" + key + "' must be an integer, not " + json[key].dump().substr(0, 60));
  const std::int64_t number = given ? json[key].get<std::int64_t>() : fallback;
  if (number >= low && number <= high) return number;
  if (!given) throw DataError(path + ": has no '" + key + "'");
  throw DataError(path + ": '" + key + "' is " + json[key].dump() + ", outside [" + std::to_string(low) + ", " + std::to_string(high) + "]");
}

// What a family calls its tensors.
struct TensorNames {
  std::string embedding = "model.embed_tokens.weight", norm = "model.norm.weight", head = "lm_head.weight", layers = "model.layers.";
  std::string attention = "self_attn.", mlp = "mlp.";  // before the names of what is in them
  std::string input_norm = "input_layernorm", post_norm = "post_attention_layernorm", o = "o_proj", gate = "gate_proj", down = "down_proj";
};

TensorNames names_of(const TransformerConfig& config) {
  if (config.model_type != "llada") return {};
  const std::string model = "model.transformer.";
  return {model + "wte.weight", model + "ln_f.weight", model + "ff_out.weight", model + "blocks.", "", "", "attn_norm", "ff_norm", "attn_out", "ff_proj", "ff_out"};
}

// Calls visit(name, tensor, shape) for every weight that a network of this config has.
template <class Net, class Visit>
void each_weight(Net& net, Visit visit) {
  const TransformerConfig& config = net.config;
  const TensorNames names = names_of(config);
  const std::int64_t d = config.hidden_size, inner = config.intermediate_size, head = config.head_dim;
  const std::int64_t all = config.num_attention_heads * head, shared = config.num_key_value_heads * head;
  using Shape = std::vector<std::int64_t>;
  const auto visit_layer = [&](const std::string& name, auto& layer, bool crosses) {
    const std::string attention = name + names.attention, cross = name + "cross_attn.", mlp = name + names.mlp;
    visit(name + names.input_norm + ".weight", layer.input_layernorm, Shape{d});
    if (config.gpt2()) visit(name + names.input_norm + ".bias", layer.input_layernorm_bias, Shape{d});
    visit(attention + "q_proj.weight", layer.q, Shape{all, d});
    visit(attention + "k_proj.weight", layer.k, Shape{shared, d});
    visit(attention + "v_proj.weight", layer.v, Shape{shared, d});
    visit(attention + names.o + ".weight", layer.o, Shape{d, all});
    if (config.qkv_bias()) {
      visit(attention + "q_proj.bias", layer.q_bias, Shape{all});
      visit(attention + "k_proj.bias", layer.k_bias, Shape{shared});
      visit(attention + "v_proj.bias", layer.v_bias, Shape{shared});
    }
    if (config.attention_bias) visit(attention + names.o + ".bias", layer.o_bias, Shape{d});
    if (config.qk_norm()) {
      visit(attention + "q_norm.weight", layer.q_norm, Shape{head});
      visit(attention + "k_norm.weight", layer.k_norm, Shape{head});
    }
    if (crosses) {
      visit(name + "cross_layernorm.weight", layer.cross_layernorm, Shape{d});
      visit(cross + "q_proj.weight", layer.cross_q, Shape{all, d});
      visit(cross + "k_proj.weight", layer.cross_k, Shape{shared, d});
      visit(cross + "v_proj.weight", layer.cross_v, Shape{shared, d});
      visit(cross + "o_proj.weight", layer.cross_o, Shape{d, all});
    }
    visit(name + names.post_norm + ".weight", layer.post_attention_layernorm, Shape{d});
    if (config.gpt2()) visit(name + names.post_norm + ".bias", layer.post_attention_layernorm_bias, Shape{d});
    if (!config.gpt2()) visit(mlp + names.gate + ".weight", layer.gate, Shape{inner, d});
    visit(mlp + "up_proj.weight", layer.up, Shape{inner, d});
    if (config.gpt2()) visit(mlp + "up_proj.bias", layer.up_bias, Shape{inner});
    visit(mlp + names.down + ".weight", layer.down, Shape{d, inner});
    if (config.gpt2()) visit(mlp + names.down + ".bias", layer.down_bias, Shape{d});
  };
  visit(names.embedding, net.embed_tokens, Shape{config.vocab_size, d});
  if (config.gpt2()) visit("model.embed_positions.weight", net.embed_positions, Shape{config.max_position_embeddings, d});
  for (std::size_t i = 0; i < net.encoder.size(); ++i) visit_layer("model.encoder.layers." + std::to_string(i) + ".", net.encoder[i], false);
  if (!net.encoder.empty()) visit("model.encoder.norm.weight", net.encoder_norm, Shape{d});
  for (std::size_t i = 0; i < net.layers.size(); ++i) visit_layer(names.layers + std::to_string(i) + ".", net.layers[i], !net.encoder.empty());
  visit(names.norm, net.norm, Shape{d});
  if (config.gpt2()) visit("model.norm.bias", net.norm_bias, Shape{d});
  if (!config.tie_word_embeddings) visit(names.head, net.lm_head, Shape{config.vocab_size, d});
}

bool is_bias(const std::string& name) { return name.ends_with(".bias"); }
bool is_norm(const std::string& name) { return name.find("norm") != std::string::npos || name.find("ln_f") != std::string::npos; }

// A network whose tensors are yet to be made.
Transformer bare(const TransformerConfig& config) {
  TransformerConfig none = config;
  none.num_hidden_layers = none.num_encoder_layers = none.vocab_size = none.max_position_embeddings = 0;
  Transformer net(none);
  net.config = config;
  net.layers.resize(config.num_hidden_layers);
  net.encoder.resize(config.num_encoder_layers);
  return net;
}

// RMSNorm, or LayerNorm where there is a bias.
at::Tensor norm(const at::Tensor& x, const at::Tensor& weight, double epsilon, const at::Tensor& bias = {}) {
  if (bias.defined()) return at::layer_norm(x, weight.sizes(), weight, bias, epsilon);
  return x * (x.square().mean(-1, true) + epsilon).rsqrt() * weight;
}

// Softmax attention of queries [B, H, L, dh] over keys and values [B, G, K, dh]; [B, L, H dh]. `blocked`: boolean, or undefined.
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& blocked) {
  const std::int64_t each = q.size(1) / k.size(1);
  at::Tensor scores = at::matmul(q, k.repeat_interleave(each, 1).transpose(2, 3)) / std::sqrt(static_cast<double>(q.size(3)));
  if (blocked.defined()) scores = scores.masked_fill(blocked, -std::numeric_limits<float>::infinity());
  return at::matmul(scores.softmax(-1), v.repeat_interleave(each, 1)).transpose(1, 2).flatten(2, 3);
}

// The first and the second half of a head turn into one another ("rotate half").
at::Tensor rotated(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine) {
  const std::int64_t half = x.size(-1) / 2;
  const at::Tensor a = x.narrow(-1, 0, half), b = x.narrow(-1, half, half);
  return at::cat({a * cosine - b * sine, b * cosine + a * sine}, -1);
}

// One layer over x [B, L, d]; `encoded` [B, S, d] where it attends a source.
at::Tensor layer_output(const TransformerLayer& layer, const TransformerConfig& config, const at::Tensor& x, const at::Tensor& cosine,
                        const at::Tensor& sine, const at::Tensor& blocked, const at::Tensor& encoded) {
  const double epsilon = config.rms_norm_eps;
  // [B, L, n dh] -> [B, n, L, dh]
  const auto split = [&](const at::Tensor& all) { return all.view({all.size(0), all.size(1), -1, config.head_dim}).transpose(1, 2); };
  const at::Tensor a = norm(x, layer.input_layernorm, epsilon, layer.input_layernorm_bias);
  at::Tensor q = split(at::linear(a, layer.q, layer.q_bias)), k = split(at::linear(a, layer.k, layer.k_bias));
  if (config.qk_norm()) {
    q = norm(q, layer.q_norm, epsilon);
    k = norm(k, layer.k_norm, epsilon);
  }
  if (!config.gpt2()) {
    q = rotated(q, cosine, sine);
    k = rotated(k, cosine, sine);
  }
  at::Tensor y = x + at::linear(attention(q, k, split(at::linear(a, layer.v, layer.v_bias)), blocked), layer.o, layer.o_bias);
  if (encoded.defined()) {
    const at::Tensor asking = split(at::linear(norm(y, layer.cross_layernorm, epsilon), layer.cross_q));
    y = y + at::linear(attention(asking, split(at::linear(encoded, layer.cross_k)), split(at::linear(encoded, layer.cross_v)), {}), layer.cross_o);
  }
  const at::Tensor b = norm(y, layer.post_attention_layernorm, epsilon, layer.post_attention_layernorm_bias);
  const at::Tensor up = at::linear(b, layer.up, layer.up_bias);
  return y + at::linear(config.gpt2() ? at::gelu(up, "tanh") : at::silu(at::linear(b, layer.gate)) * up, layer.down, layer.down_bias);
}

constexpr std::int64_t kWidest = 1 << 20;

void require(const Json& json, const std::string& path, const char* key, const Json& wanted) {
  if (json.contains(key) && !json[key].is_null() && json[key] != wanted) {
    throw DataError(path + ": '" + key + "' is " + json[key].dump().substr(0, 60) + ", only " + wanted.dump() + " is supported");
  }
}

// `eos_token_id`: one, several or none.
std::vector<std::int64_t> stops(const Json& json, const std::string& path, std::int64_t vocabulary) {
  if (!json.contains("eos_token_id") || !json["eos_token_id"].is_array()) {
    const std::int64_t eos = integer(json, path, "eos_token_id", -1, vocabulary - 1, -1);
    return eos < 0 ? std::vector<std::int64_t>{} : std::vector{eos};
  }
  const auto several = value<std::vector<std::int64_t>>(json, path, "eos_token_id", {});
  for (const std::int64_t eos : several) {
    if (eos < 0 || eos >= vocabulary) throw DataError(path + ": 'eos_token_id' holds " + std::to_string(eos) + ", outside the vocabulary of " + std::to_string(vocabulary));
  }
  return several;
}

// GPT-2 has keys of its own.
TransformerConfig read_gpt2(const Json& json, const std::string& path) {
  require(json, path, "activation_function", "gelu_new");
  require(json, path, "scale_attn_weights", true);
  require(json, path, "scale_attn_by_inverse_layer_idx", false);
  TransformerConfig config;
  config.model_type = "gpt2";
  config.vocab_size = integer(json, path, "vocab_size", 1, 10'000'000, 0);
  config.hidden_size = integer(json, path, "n_embd", 1, kWidest, 0);
  config.num_hidden_layers = integer(json, path, "n_layer", 1, 1024, 0);
  config.num_attention_heads = config.num_key_value_heads = integer(json, path, "n_head", 1, 4096, 0);
  if (config.hidden_size % config.num_attention_heads) {
    throw DataError(path + ": 'n_embd' is " + std::to_string(config.hidden_size) + ", no multiple of the " + std::to_string(config.num_attention_heads) + " of 'n_head'");
  }
  config.head_dim = config.hidden_size / config.num_attention_heads;
  config.intermediate_size = integer(json, path, "n_inner", 1, kWidest, 4 * config.hidden_size);
  config.max_position_embeddings = integer(json, path, "n_positions", 1, kWidest, 0);
  config.rms_norm_eps = value<double>(json, path, "layer_norm_epsilon", 1e-5);
  if (!(config.rms_norm_eps > 0)) throw DataError(path + ": 'layer_norm_epsilon' must be positive");
  config.tie_word_embeddings = config.attention_bias = true;
  config.eos_token_id = stops(json, path, config.vocab_size);
  return config;
}

}  // namespace

TransformerConfig TransformerConfig::read(const std::string& folder) {
  const std::string path = folder + "/config.json";
  const Json json = parsed(path, "a checkpoint is a folder with config.json and model.safetensors");
  TransformerConfig config;
  config.model_type = value<std::string>(json, path, "model_type", "(none)");
  if (config.gpt2()) return read_gpt2(json, path);
  const bool fast = config.model_type == "Fast_dLLM_Qwen", sdar = config.model_type == "sdar", llada = config.model_type == "llada", dream = config.model_type == "Dream";
  if (!fast && !sdar && !llada && !dream && config.model_type != "qwen2" && config.model_type != "qwen3") {
    throw DataError(path + ": is a checkpoint of another family, model_type '" + config.model_type + "' instead of sdar, Fast_dLLM_Qwen, llada, Dream, qwen2, qwen3 or gpt2");
  }
  if (llada) {
    for (const char* off : {"alibi", "attention_layer_norm", "include_bias", "include_qkv_bias", "input_emb_norm", "multi_query_attention", "scale_logits"}) require(json, path, off, false);
    require(json, path, "activation_type", "silu");
    require(json, path, "block_type", "llama");
    require(json, path, "layer_norm_type", "rms");
    require(json, path, "rope", true);
  } else {
    require(json, path, "hidden_act", "silu");
    require(json, path, "rope_scaling", nullptr);
    require(json, path, "use_sliding_window", false);
  }

  const auto key = [llada](const char* usual, const char* of_llada) { return llada ? of_llada : usual; };
  config.vocab_size = integer(json, path, llada && json.contains("embedding_size") && !json["embedding_size"].is_null() ? "embedding_size" : "vocab_size", 1, 10'000'000, 0);
  config.hidden_size = integer(json, path, key("hidden_size", "d_model"), 1, kWidest, 0);
  config.num_hidden_layers = integer(json, path, key("num_hidden_layers", "n_layers"), 1, 1024, 0);
  config.num_encoder_layers = integer(json, path, "num_encoder_layers", 0, 1024, 0);
  config.num_attention_heads = integer(json, path, key("num_attention_heads", "n_heads"), 1, 4096, 0);
  config.num_key_value_heads = integer(json, path, key("num_key_value_heads", "n_kv_heads"), 1, 4096, config.num_attention_heads);
  config.head_dim = integer(json, path, "head_dim", 2, kWidest, config.hidden_size / config.num_attention_heads);
  config.intermediate_size = integer(json, path, key("intermediate_size", "mlp_hidden_size"), 1, kWidest, 0);
  config.max_position_embeddings = integer(json, path, key("max_position_embeddings", "max_sequence_length"), 1, kWidest, config.max_position_embeddings);
  if (config.head_dim % 2) throw DataError(path + ": 'head_dim' is " + std::to_string(config.head_dim) + ", it must be even");
  if (config.num_attention_heads % config.num_key_value_heads) {
    throw DataError(path + ": 'num_attention_heads' is " + std::to_string(config.num_attention_heads) + ", no multiple of the " +
                    std::to_string(config.num_key_value_heads) + " 'num_key_value_heads'");
  }
  config.rms_norm_eps = value<double>(json, path, "rms_norm_eps", 1e-6);
  config.rope_theta = value<double>(json, path, "rope_theta", 1e4);
  if (!(config.rms_norm_eps > 0) || !(config.rope_theta > 0)) throw DataError(path + ": 'rms_norm_eps' and 'rope_theta' must be positive");
  config.tie_word_embeddings = value<bool>(json, path, key("tie_word_embeddings", "weight_tying"), false);
  config.attention_bias = !llada && value<bool>(json, path, "attention_bias", false);

  // Real checkpoints may leave the mask to their code, which writes these numbers.
  const std::int64_t usual = sdar ? 151669 : fast ? 151665 : dream ? 151666 : llada ? 126336 : -1;
  config.block_size = integer(json, path, fast ? "bd_size" : "block_size", 0, kWidest, fast ? 32 : sdar ? 4 : 0);
  config.mask_token_id = integer(json, path, "mask_token_id", -1, config.vocab_size - 1, usual < config.vocab_size ? usual : -1);
  config.eos_token_id = stops(json, path, config.vocab_size);
  return config;
}

void TransformerConfig::write(const std::string& folder) const {
  const std::map<std::string, std::string> architectures{{"sdar", "SDARForCausalLM"}, {"Fast_dLLM_Qwen", "Fast_dLLM_QwenForCausalLM"},
                                                         {"llada", "LLaDAModelLM"}, {"Dream", "DreamModel"},
                                                         {"qwen2", "Qwen2ForCausalLM"}, {"qwen3", "Qwen3ForCausalLM"},
                                                         {"gpt2", "GPT2LMHeadModel"}};
  Json json{{"architectures", {architectures.at(model_type)}}, {"model_type", model_type}, {"vocab_size", vocab_size},
            {"rms_norm_eps", rms_norm_eps}, {"rope_theta", rope_theta}};
  if (gpt2()) {
    json = {{"architectures", {architectures.at(model_type)}}, {"model_type", model_type}, {"activation_function", "gelu_new"}, {"vocab_size", vocab_size},
            {"n_embd", hidden_size}, {"n_layer", num_hidden_layers}, {"n_head", num_attention_heads}, {"n_inner", intermediate_size},
            {"n_positions", max_position_embeddings}, {"layer_norm_epsilon", rms_norm_eps}};
  } else if (model_type == "llada") {
    json.update({{"activation_type", "silu"}, {"alibi", false}, {"attention_layer_norm", false}, {"block_type", "llama"},
                 {"d_model", hidden_size}, {"embedding_size", vocab_size}, {"include_bias", false}, {"include_qkv_bias", false},
                 {"input_emb_norm", false}, {"layer_norm_type", "rms"}, {"max_sequence_length", max_position_embeddings},
                 {"mlp_hidden_size", intermediate_size}, {"multi_query_attention", nullptr}, {"n_heads", num_attention_heads},
                 {"n_kv_heads", num_key_value_heads}, {"n_layers", num_hidden_layers}, {"rope", true}, {"scale_logits", false},
                 {"weight_tying", tie_word_embeddings}});
    if (head_dim * num_attention_heads != hidden_size) json["head_dim"] = head_dim;
  } else {
    json.update({{"hidden_act", "silu"}, {"hidden_size", hidden_size}, {"num_hidden_layers", num_hidden_layers},
                 {"num_attention_heads", num_attention_heads}, {"num_key_value_heads", num_key_value_heads}, {"head_dim", head_dim},
                 {"intermediate_size", intermediate_size}, {"rope_scaling", nullptr}, {"max_position_embeddings", max_position_embeddings},
                 {"use_sliding_window", false}, {"tie_word_embeddings", tie_word_embeddings}, {"attention_bias", attention_bias}});
  }
  if (num_encoder_layers > 0) {
    json["architectures"] = {"EncoderDecoder"};
    json["num_encoder_layers"] = num_encoder_layers;
  }
  if (block_size > 0) json[model_type == "Fast_dLLM_Qwen" ? "bd_size" : "block_size"] = block_size;
  if (mask_token_id >= 0) json["mask_token_id"] = mask_token_id;
  if (eos_token_id.size() == 1) json["eos_token_id"] = eos_token_id[0];
  else if (!eos_token_id.empty()) json["eos_token_id"] = eos_token_id;
  write_whole(folder + "/config.json", json.dump(2) + "\n");
}

Transformer::Transformer(const TransformerConfig& config) : config(config), layers(config.num_hidden_layers), encoder(config.num_encoder_layers) {
  each_weight(*this, [](const std::string& name, at::Tensor& tensor, const std::vector<std::int64_t>& shape) {
    tensor = is_norm(name) && !is_bias(name) ? at::ones(shape) : at::zeros(shape);
  });
  if (config.tie_word_embeddings) lm_head = embed_tokens;
}

std::vector<std::pair<std::string, at::Tensor>> Transformer::named_parameters() const {
  std::vector<std::pair<std::string, at::Tensor>> all;
  each_weight(*this, [&](const std::string& name, const at::Tensor& tensor, const std::vector<std::int64_t>&) { all.emplace_back(name, tensor); });
  return all;
}

Transformer Transformer::random(const TransformerConfig& config, std::uint64_t seed, double spread) {
  Transformer net(config);
  const at::NoGradGuard no_grad;
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  for (auto& [name, tensor] : net.named_parameters()) if (!is_norm(name) && !is_bias(name)) tensor.normal_(0, spread, generator);
  return net;
}

Transformer Transformer::load(const std::string& folder, at::ScalarType type) {
  TransformerConfig config = TransformerConfig::read(folder);
  Weights weights(weight_files(folder));
  const at::NoGradGuard no_grad;
  Transformer net = bare(config);
  if (config.gpt2()) {
    take_gpt2(net, weights, type);
  } else {
    // A tied head may be stored, or an untied one left out: both mean the embedding.
    const std::string head = names_of(config).head;
    if (!weights.has(head)) net.config.tie_word_embeddings = true;
    else if (config.tie_word_embeddings) weights.ignore(head);
    each_weight(net, [&](const std::string& name, at::Tensor& tensor, const std::vector<std::int64_t>& shape) { tensor = weights.take(name, shape, type); });
    if (net.config.tie_word_embeddings) net.lm_head = net.embed_tokens;
  }
  weights.expect_all_taken();
  return net;
}

void Transformer::save(const std::string& folder, bool bf16) const {
  make_folder(folder);
  const at::NoGradGuard no_grad;
  write_weights(folder + "/model.safetensors", config.gpt2() ? gpt2_weights(*this) : named_parameters(), bf16, {{"format", "pt"}});
  config.write(folder);
}

std::pair<at::Tensor, at::Tensor> rotary(const at::Tensor& positions, const TransformerConfig& config) {
  const auto options = at::TensorOptions(at::kDouble);
  const double step = -2 * std::log(config.rope_theta) / static_cast<double>(config.head_dim);
  const at::Tensor frequencies = at::arange(0, config.head_dim / 2, options).mul(step).exp();
  const at::Tensor angles = positions.to(at::kDouble).unsqueeze(-1) * frequencies;
  return {angles.cos().to(at::kFloat), angles.sin().to(at::kFloat)};
}

std::vector<at::Tensor> transformer_hidden(const Transformer& net, const at::Tensor& ids, const at::Tensor& positions,
                                           const at::Tensor& allowed, const at::Tensor& source) {
  const TransformerConfig& config = net.config;
  const auto run = [&](const std::vector<TransformerLayer>& layers, const at::Tensor& tokens, const at::Tensor& places, const at::Tensor& blocked,
                       const at::Tensor& encoded) {
    const auto [cosines, sines] = rotary(places, config);
    const at::Tensor cosine = cosines.unsqueeze(1), sine = sines.unsqueeze(1);
    std::vector<at::Tensor> hidden{at::embedding(net.embed_tokens, tokens)};
    if (config.gpt2()) hidden.back() = hidden.back() + at::embedding(net.embed_positions, places);
    for (const TransformerLayer& layer : layers) hidden.push_back(layer_output(layer, config, hidden.back(), cosine, sine, blocked, encoded));
    return hidden;
  };
  at::Tensor encoded;
  if (!net.encoder.empty()) {
    const at::Tensor places = at::arange(source.size(1), at::kLong).unsqueeze(0);
    encoded = norm(run(net.encoder, source, places, {}, {}).back(), net.encoder_norm, config.rms_norm_eps);
  }
  std::vector<at::Tensor> hidden = run(net.layers, ids, positions, allowed.logical_not(), encoded);
  hidden.back() = norm(hidden.back(), net.norm, config.rms_norm_eps, net.norm_bias);
  return hidden;
}

at::Tensor transformer_logits(const Transformer& net, const at::Tensor& ids, const at::Tensor& positions, const at::Tensor& allowed) {
  return at::linear(transformer_hidden(net, ids, positions, allowed).back(), net.lm_head);
}

}  // namespace draftlab
