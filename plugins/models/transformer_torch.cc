#include "plugins/models/transformer_torch.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"
#include "core/files.h"
#include "plugins/models/safetensors.h"

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

at::ScalarType scalar_type(const TensorBytes& stored, const std::string& where) {
  switch (stored.type) {
    case ElementType::f32: return at::kFloat;
    case ElementType::f16: return at::kHalf;
    case ElementType::bf16: return at::kBFloat16;
    case ElementType::i64: break;
  }
  throw DataError(where + " holds integers, not weights");
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
  visit(names.embedding, net.embed_tokens, Shape{config.vocab_size, d});
  for (std::size_t i = 0; i < net.layers.size(); ++i) {
    auto& layer = net.layers[i];
    const std::string name = names.layers + std::to_string(i) + ".", attention = name + names.attention, mlp = name + names.mlp;
    visit(name + names.input_norm + ".weight", layer.input_layernorm, Shape{d});
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
    visit(name + names.post_norm + ".weight", layer.post_attention_layernorm, Shape{d});
    visit(mlp + names.gate + ".weight", layer.gate, Shape{inner, d});
    visit(mlp + "up_proj.weight", layer.up, Shape{inner, d});
    visit(mlp + names.down + ".weight", layer.down, Shape{d, inner});
  }
  visit(names.norm, net.norm, Shape{d});
  if (!config.tie_word_embeddings) visit(names.head, net.lm_head, Shape{config.vocab_size, d});
}

bool is_norm(const std::string& name) { return name.find("norm") != std::string::npos || name.find("ln_f") != std::string::npos; }

// A network whose tensors are yet to be made.
Transformer bare(const TransformerConfig& config) {
  TransformerConfig none = config;
  none.num_hidden_layers = none.vocab_size = 0;
  Transformer net(none);
  net.config = config;
  net.layers.resize(config.num_hidden_layers);
  return net;
}

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double epsilon) {
  return x * (x.square().mean(-1, true) + epsilon).rsqrt() * weight;
}

// The first and the second half of a head turn into one another ("rotate half").
at::Tensor rotated(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine) {
  const std::int64_t half = x.size(-1) / 2;
  const at::Tensor a = x.narrow(-1, 0, half), b = x.narrow(-1, half, half);
  return at::cat({a * cosine - b * sine, b * cosine + a * sine}, -1);
}

}  // namespace

TransformerConfig TransformerConfig::read(const std::string& folder) {
  const std::string path = folder + "/config.json";
  const Json json = parsed(path, "a checkpoint is a folder with config.json and model.safetensors");
  TransformerConfig config;
  config.model_type = value<std::string>(json, path, "model_type", "(none)");
  const bool fast = config.model_type == "Fast_dLLM_Qwen", sdar = config.model_type == "sdar", llada = config.model_type == "llada", dream = config.model_type == "Dream";
  if (!fast && !sdar && !llada && !dream && config.model_type != "qwen2" && config.model_type != "qwen3") {
    throw DataError(path + ": is a checkpoint of another family, model_type '" + config.model_type + "' instead of sdar, Fast_dLLM_Qwen, llada, Dream, qwen2 or qwen3");
  }
  const auto require = [&](const char* key, const Json& wanted) {
    if (json.contains(key) && !json[key].is_null() && json[key] != wanted) {
      throw DataError(path + ": '" + key + "' is " + json[key].dump().substr(0, 60) + ", only " + wanted.dump() + " is supported");
    }
  };
  if (llada) {
    for (const char* off : {"alibi", "attention_layer_norm", "include_bias", "include_qkv_bias", "input_emb_norm", "multi_query_attention", "scale_logits"}) require(off, false);
    require("activation_type", "silu");
    require("block_type", "llama");
    require("layer_norm_type", "rms");
    require("rope", true);
  } else {
    require("hidden_act", "silu");
    require("rope_scaling", nullptr);
    require("use_sliding_window", false);
  }

  constexpr std::int64_t kWidest = 1 << 20;
  const auto key = [llada](const char* usual, const char* of_llada) { return llada ? of_llada : usual; };
  config.vocab_size = integer(json, path, llada && json.contains("embedding_size") && !json["embedding_size"].is_null() ? "embedding_size" : "vocab_size", 1, 10'000'000, 0);
  config.hidden_size = integer(json, path, key("hidden_size", "d_model"), 1, kWidest, 0);
  config.num_hidden_layers = integer(json, path, key("num_hidden_layers", "n_layers"), 1, 1024, 0);
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
  if (json.contains("eos_token_id") && json["eos_token_id"].is_array()) {
    config.eos_token_id = value<std::vector<std::int64_t>>(json, path, "eos_token_id", {});
  } else if (const auto eos = integer(json, path, "eos_token_id", -1, config.vocab_size - 1, -1); eos >= 0) {
    config.eos_token_id = {eos};
  }
  for (const std::int64_t eos : config.eos_token_id) {
    if (eos < 0 || eos >= config.vocab_size) throw DataError(path + ": 'eos_token_id' holds " + std::to_string(eos) + ", outside the vocabulary of " + std::to_string(config.vocab_size));
  }
  return config;
}

void TransformerConfig::write(const std::string& folder) const {
  const std::map<std::string, std::string> architectures{{"sdar", "SDARForCausalLM"}, {"Fast_dLLM_Qwen", "Fast_dLLM_QwenForCausalLM"},
                                                         {"llada", "LLaDAModelLM"}, {"Dream", "DreamModel"},
                                                         {"qwen2", "Qwen2ForCausalLM"}, {"qwen3", "Qwen3ForCausalLM"}};
  Json json{{"architectures", {architectures.at(model_type)}}, {"model_type", model_type}, {"vocab_size", vocab_size},
            {"rms_norm_eps", rms_norm_eps}, {"rope_theta", rope_theta}};
  if (model_type == "llada") {
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
  if (block_size > 0) json[model_type == "Fast_dLLM_Qwen" ? "bd_size" : "block_size"] = block_size;
  if (mask_token_id >= 0) json["mask_token_id"] = mask_token_id;
  if (eos_token_id.size() == 1) json["eos_token_id"] = eos_token_id[0];
  else if (!eos_token_id.empty()) json["eos_token_id"] = eos_token_id;
  write_whole(folder + "/config.json", json.dump(2) + "\n");
}

Transformer::Transformer(const TransformerConfig& config) : config(config), layers(config.num_hidden_layers) {
  each_weight(*this, [](const std::string& name, at::Tensor& tensor, const std::vector<std::int64_t>& shape) {
    tensor = is_norm(name) ? at::ones(shape) : at::zeros(shape);
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
  for (auto& [name, tensor] : net.named_parameters()) if (!is_norm(name) && !name.ends_with(".bias")) tensor.normal_(0, spread, generator);
  return net;
}

std::vector<std::string> weight_files(const std::string& folder) {
  const std::string index = folder + "/model.safetensors.index.json";
  if (!std::ifstream(index)) return {folder + "/model.safetensors"};
  const Json json = parsed(index, "it was there a moment ago");
  std::set<std::string> names;
  for (const auto& [name, file] : value<std::map<std::string, std::string>>(json, index, "weight_map", {})) {
    if (file.find('/') != std::string::npos) throw DataError(index + ": tensor '" + name + "' lies in '" + file + "', which is no file of this folder");
    names.insert(folder + "/" + file);
  }
  if (names.empty()) throw DataError(index + ": its 'weight_map' names no file");
  return {names.begin(), names.end()};
}

Transformer Transformer::load(const std::string& folder, at::ScalarType type) {
  TransformerConfig config = TransformerConfig::read(folder);
  struct Place { const SafetensorsFile* file; const TensorBytes* bytes; };
  std::vector<std::unique_ptr<SafetensorsFile>> files;
  std::map<std::string, Place> stored;
  for (const std::string& path : weight_files(folder)) {
    files.push_back(std::make_unique<SafetensorsFile>(path));
    for (const auto& [name, bytes] : files.back()->tensors()) {
      if (!stored.emplace(name, Place{files.back().get(), &bytes}).second) throw DataError(path + ": holds tensor '" + name + "', which another file holds, too");
    }
  }
  // A tied head may be stored, or an untied one left out: both mean the embedding.
  const std::string head = names_of(config).head;
  if (!stored.contains(head)) config.tie_word_embeddings = true;
  else if (config.tie_word_embeddings) stored.erase(head);

  const at::NoGradGuard no_grad;
  Transformer net = bare(config);
  // Shapes are compared before anything as large as the config says is allocated.
  each_weight(net, [&](const std::string& name, at::Tensor& tensor, const std::vector<std::int64_t>& shape) {
    const auto found = stored.find(name);
    if (found == stored.end()) throw DataError(files.front()->path() + ": has no tensor '" + name + "', config.json wants one of shape " + shape_text(shape));
    const TensorBytes& bytes = *found->second.bytes;
    const std::string where = found->second.file->path() + ": tensor '" + name + "'";
    if (bytes.shape != shape) throw DataError(where + " has shape " + shape_text(bytes.shape) + ", config.json wants " + shape_text(shape));
    const at::Tensor raw = at::empty(shape, at::TensorOptions(scalar_type(bytes, where)));
    std::memcpy(raw.data_ptr(), bytes.bytes.data(), bytes.bytes.size());
    tensor = raw.to(type);
    stored.erase(found);
  });
  if (config.tie_word_embeddings) net.lm_head = net.embed_tokens;
  if (!stored.empty()) {
    const auto& [name, place] = *stored.begin();
    throw DataError(place.file->path() + ": holds a tensor '" + name + "' of shape " + shape_text(place.bytes->shape) + " that a network of its config.json does not have");
  }
  return net;
}

void Transformer::save(const std::string& folder, bool bf16) const {
  make_folder(folder);
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> kept;
  std::vector<std::pair<std::string, TensorBytes>> tensors;
  for (const auto& [name, tensor] : named_parameters()) {
    kept.push_back(tensor.detach().to(bf16 ? at::kBFloat16 : at::kFloat).contiguous());
    const at::Tensor& stored = kept.back();
    const auto bytes = std::span(static_cast<const std::byte*>(stored.data_ptr()), stored.nbytes());
    tensors.push_back({name, {bf16 ? ElementType::bf16 : ElementType::f32, stored.sizes().vec(), bytes}});
  }
  write_safetensors(folder + "/model.safetensors", tensors, {{"format", "pt"}});
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
                                           const at::Tensor& allowed) {
  const TransformerConfig& config = net.config;
  const std::int64_t batch = ids.size(0), length = ids.size(1), head = config.head_dim;
  const std::int64_t heads = config.num_attention_heads, groups = config.num_key_value_heads;
  const auto [cosines, sines] = rotary(positions, config);
  const at::Tensor cosine = cosines.unsqueeze(1), sine = sines.unsqueeze(1), blocked = allowed.logical_not();
  // [B, L, n dh] -> [B, n, L, dh]
  const auto split = [&](const at::Tensor& x, std::int64_t count) { return x.view({batch, length, count, head}).transpose(1, 2); };
  const auto shared = [&](const at::Tensor& x) { return x.repeat_interleave(heads / groups, 1); };

  std::vector<at::Tensor> hidden{at::embedding(net.embed_tokens, ids)};
  for (const TransformerLayer& layer : net.layers) {
    const at::Tensor& x = hidden.back();
    const at::Tensor a = rms_norm(x, layer.input_layernorm, config.rms_norm_eps);
    at::Tensor q = split(at::linear(a, layer.q, layer.q_bias), heads), k = split(at::linear(a, layer.k, layer.k_bias), groups);
    if (config.qk_norm()) {
      q = rms_norm(q, layer.q_norm, config.rms_norm_eps);
      k = rms_norm(k, layer.k_norm, config.rms_norm_eps);
    }
    q = rotated(q, cosine, sine);
    k = shared(rotated(k, cosine, sine));
    const at::Tensor v = shared(split(at::linear(a, layer.v, layer.v_bias), groups));
    const at::Tensor scores = at::matmul(q, k.transpose(2, 3)) / std::sqrt(static_cast<double>(head));
    const at::Tensor weights = scores.masked_fill(blocked, -std::numeric_limits<float>::infinity()).softmax(-1);
    const at::Tensor joined = at::matmul(weights, v).transpose(1, 2).reshape({batch, length, heads * head});
    const at::Tensor attended = x + at::linear(joined, layer.o, layer.o_bias);
    const at::Tensor b = rms_norm(attended, layer.post_attention_layernorm, config.rms_norm_eps);
    hidden.push_back(attended + at::linear(at::silu(at::linear(b, layer.gate)) * at::linear(b, layer.up), layer.down));
  }
  hidden.push_back(rms_norm(hidden.back(), net.norm, config.rms_norm_eps));
  hidden.erase(hidden.end() - 2);
  return hidden;
}

at::Tensor transformer_logits(const Transformer& net, const at::Tensor& ids, const at::Tensor& positions, const at::Tensor& allowed) {
  return at::linear(transformer_hidden(net, ids, positions, allowed).back(), net.lm_head);
}

}  // namespace draftlab
