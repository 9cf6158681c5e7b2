#include "plugins/models/nn/transformer/transformer_config.h"

#include <array>
#include <string_view>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/words.h"
#include "plugins/models/nn/checkpoint/config_file.h"
#include "plugins/models/nn/checkpoint/llama2c.h"
#include "plugins/models/nn/transformer/llama_config.h"
#include "plugins/models/nn/transformer/sedd_config.h"

namespace draftlab {
namespace {

constexpr std::int64_t kWidest = 1 << 20;

// Reads `eos_token_id`, which holds one id, several or none.
std::vector<std::int64_t> stops(const ConfigFile& file, std::int64_t vocabulary) {
  if (!file.has("eos_token_id") || !file.keys()["eos_token_id"].is_array()) {
    const std::int64_t eos = file.integer("eos_token_id", -1, vocabulary - 1, -1);
    return eos < 0 ? std::vector<std::int64_t>{} : std::vector{eos};
  }
  const auto several = file.value<std::vector<std::int64_t>>("eos_token_id", {});
  for (const std::int64_t eos : several) {
    if (eos < 0 || eos >= vocabulary)
      throw DataError("{}: 'eos_token_id' holds {}, outside the vocabulary of {}", file.path(), eos,
                      vocabulary);
  }
  return several;
}

// What is known of a family: its class in `architectures`, which serves a config without a
// model_type, and the mask token and block size that its own code writes, since real checkpoints
// may leave them out.
struct Family {
  std::string_view model_type, architecture;
  std::int64_t mask = -1, block_size = 0;
};
constexpr std::array<Family, 10> kFamilies{
    {{"Dream", "DreamModel", 151666},
     {"Fast_dLLM_Qwen", "Fast_dLLM_QwenForCausalLM", 151665, 32},
     {"gpt2", "GPT2LMHeadModel"},
     {"llada2_moe", "LLaDA2MoeModelLM", 156895, 32},
     {"llada", "LLaDAModelLM", 126336},
     {"llama", "LlamaForCausalLM"},
     {"mistral", "MistralForCausalLM"},
     {"qwen2", "Qwen2ForCausalLM"},
     {"qwen3", "Qwen3ForCausalLM"},
     {"sdar", "SDARForCausalLM", 151669, 4}}};

// Returns the family. Throws DataError that says what the file is instead.
const Family& family_of(const ConfigFile& file) {
  const std::string type = file.family();
  std::string known, own;
  for (const Family& family : kFamilies) {
    if (family.model_type == type) return family;
    known += (known.empty() ? "" : ", ") + std::string(family.model_type);
  }
  const Json classes = file.value<Json>("architectures", nullptr);
  if (classes.is_array() && !classes.empty() && classes[0].is_string()) own = classes[0];
  for (const Family& family : kFamilies)
    if (type.empty() && family.architecture == own) return family;
  throw DataError("{}: is a checkpoint of another family, model_type '{}'{} instead of {}",
                  file.path(), type.empty() ? "(none)" : type, own.empty() ? "" : " (" + own + ")",
                  known);
}

// Reads LLaDA2's keys that the other families do not have.
void read_experts(const ConfigFile& file, TransformerConfig& config) {
  for (const char* off : {"use_bias", "use_qkv_bias"}) file.require(off, false);
  for (const char* on : {"use_qk_norm", "norm_topk_prob", "moe_router_enable_expert_bias"})
    file.require(on, true);
  file.require("score_function", "sigmoid");
  Experts& experts = config.experts;
  experts.count = file.integer("num_experts", 1, 65536, 0);
  experts.chosen = file.integer("num_experts_per_tok", 1, experts.count, 0);
  experts.shared = file.integer("num_shared_experts", 1, 64, 0);
  experts.inner = file.integer("moe_intermediate_size", 1, kWidest, 0);
  experts.first_layer = file.integer("first_k_dense_replace", 0, config.num_hidden_layers, 0);
  experts.groups = file.integer("n_group", 1, experts.count, 1);
  experts.best_groups = file.integer("topk_group", 1, experts.groups, experts.groups);
  experts.scale = file.value<double>("routed_scaling_factor", 1);
  if (experts.count % experts.groups)
    throw DataError("{}: 'num_experts' is {}, no multiple of the {} of 'n_group'", file.path(),
                    experts.count, experts.groups);
  if (experts.chosen > experts.count / experts.groups * experts.best_groups) {
    throw DataError("{}: 'num_experts_per_tok' is {}, more than the experts of 'topk_group' groups",
                    file.path(), experts.chosen);
  }
  const auto part = file.value<double>("partial_rotary_factor", 1);
  config.rotary_dim =
      file.integer("rotary_dim", 2, config.head_dim,
                   static_cast<std::int64_t>(part * static_cast<double>(config.head_dim)));
  if (config.rotary_dim % 2)
    throw DataError("{}: 'rotary_dim' is {}, it must be even", file.path(), config.rotary_dim);
}

// Reads GPT-2's config, which has keys of its own.
TransformerConfig read_gpt2(const ConfigFile& file) {
  file.require("activation_function", "gelu_new");
  file.require("scale_attn_weights", true);
  file.require("scale_attn_by_inverse_layer_idx", false);
  TransformerConfig config;
  config.model_type = "gpt2";
  config.vocab_size = file.integer("vocab_size", 1, 10'000'000, 0);
  config.hidden_size = file.integer("n_embd", 1, kWidest, 0);
  config.num_hidden_layers = file.integer("n_layer", 1, 1024, 0);
  config.num_attention_heads = config.num_key_value_heads = file.integer("n_head", 1, 4096, 0);
  if (config.hidden_size % config.num_attention_heads) {
    throw DataError("{}: 'n_embd' is {}, no multiple of the {} of 'n_head'", file.path(),
                    config.hidden_size, config.num_attention_heads);
  }
  config.head_dim = config.hidden_size / config.num_attention_heads;
  config.intermediate_size = file.integer("n_inner", 1, kWidest, 4 * config.hidden_size);
  config.max_position_embeddings = file.integer("n_positions", 1, kWidest, 0);
  config.rms_norm_eps = file.positive("layer_norm_epsilon", 1e-5);
  config.tie_word_embeddings = config.attention_bias = true;
  config.eos_token_id = stops(file, config.vocab_size);
  return config;
}

// Throws DataError where the file asks for another network than its family's.
void require_network(const ConfigFile& file, const TransformerConfig& config) {
  if (config.model_type != "llada") {
    file.require("hidden_act", "silu");
    file.require("use_sliding_window", false);
    if (!config.llama()) file.require("rope_scaling", nullptr);
    return;
  }
  for (const char* off : {"alibi", "attention_layer_norm", "include_bias", "include_qkv_bias",
                          "input_emb_norm", "multi_query_attention", "scale_logits"})
    file.require(off, false);
  file.require("activation_type", "silu");
  file.require("block_type", "llama");
  file.require("layer_norm_type", "rms");
  file.require("rope", true);
}

void read_sizes(const ConfigFile& file, TransformerConfig& config) {
  const bool llada = config.model_type == "llada";
  const auto size = [&](const char* usual, const char* of_llada, std::int64_t high,
                        std::int64_t fallback) {
    return file.integer(llada ? of_llada : usual, 1, high, fallback);
  };
  const char* const embedded = file.has("embedding_size") ? "embedding_size" : "vocab_size";
  config.vocab_size = size("vocab_size", embedded, 10'000'000, 0);
  config.hidden_size = size("hidden_size", "d_model", kWidest, 0);
  config.num_hidden_layers = size("num_hidden_layers", "n_layers", 1024, 0);
  config.num_encoder_layers = file.integer("num_encoder_layers", 0, 1024, 0);
  config.num_attention_heads = size("num_attention_heads", "n_heads", 4096, 0);
  config.num_key_value_heads =
      size("num_key_value_heads", "n_kv_heads", 4096, config.num_attention_heads);
  config.head_dim =
      file.integer("head_dim", 2, kWidest, config.hidden_size / config.num_attention_heads);
  config.intermediate_size = size("intermediate_size", "mlp_hidden_size", kWidest, 0);
  config.max_position_embeddings = size("max_position_embeddings", "max_sequence_length", kWidest,
                                        config.max_position_embeddings);
  config.position_vectors = file.value<bool>("position_vectors", false);
  if (config.head_dim % 2)
    throw DataError("{}: 'head_dim' is {}, it must be even", file.path(), config.head_dim);
  if (config.num_attention_heads % config.num_key_value_heads) {
    throw DataError("{}: 'num_attention_heads' is {}, no multiple of the {} 'num_key_value_heads'",
                    file.path(), config.num_attention_heads, config.num_key_value_heads);
  }
}

void read_positions(const ConfigFile& file, TransformerConfig& config) {
  config.rope = read_rope(file);
  if (!config.llama() && config.rope.scaling.kind != RopeKind::none)
    throw DataError("{}: 'rope_parameters' asks for the scaling '{}', which {} has not",
                    file.path(), word(config.rope.scaling.kind), config.model_type);
}

const char* block_size_key(const TransformerConfig& config) {
  return config.model_type == "Fast_dLLM_Qwen" ? "bd_size" : "block_size";
}

// The next functions return the keys that one line of families has besides the common ones.
Json gpt2_keys(const TransformerConfig& config) {
  return {
      {"activation_function", "gelu_new"},        {"n_embd", config.hidden_size},
      {"n_layer", config.num_hidden_layers},      {"n_head", config.num_attention_heads},
      {"n_inner", config.intermediate_size},      {"n_positions", config.max_position_embeddings},
      {"layer_norm_epsilon", config.rms_norm_eps}};
}

Json llada_keys(const TransformerConfig& config) {
  return {{"activation_type", "silu"},
          {"alibi", false},
          {"attention_layer_norm", false},
          {"block_type", "llama"},
          {"d_model", config.hidden_size},
          {"embedding_size", config.vocab_size},
          {"include_bias", false},
          {"include_qkv_bias", false},
          {"input_emb_norm", false},
          {"layer_norm_type", "rms"},
          {"max_sequence_length", config.max_position_embeddings},
          {"mlp_hidden_size", config.intermediate_size},
          {"multi_query_attention", nullptr},
          {"n_heads", config.num_attention_heads},
          {"n_kv_heads", config.num_key_value_heads},
          {"n_layers", config.num_hidden_layers},
          {"rope", true},
          {"scale_logits", false},
          {"weight_tying", config.tie_word_embeddings}};
}

Json usual_keys(const TransformerConfig& config) {
  return {{"hidden_act", "silu"},
          {"hidden_size", config.hidden_size},
          {"num_hidden_layers", config.num_hidden_layers},
          {"num_attention_heads", config.num_attention_heads},
          {"num_key_value_heads", config.num_key_value_heads},
          {"head_dim", config.head_dim},
          {"intermediate_size", config.intermediate_size},
          {"rope_scaling", rope_scaling_json(config.rope.scaling)},
          {"max_position_embeddings", config.max_position_embeddings},
          {"use_sliding_window", false},
          {"tie_word_embeddings", config.tie_word_embeddings},
          {"attention_bias", config.attention_bias}};
}

Json expert_keys(const TransformerConfig& config) {
  const Experts& experts = config.experts;
  return {{"num_experts", experts.count},
          {"num_experts_per_tok", experts.chosen},
          {"num_shared_experts", experts.shared},
          {"moe_intermediate_size", experts.inner},
          {"first_k_dense_replace", experts.first_layer},
          {"n_group", experts.groups},
          {"topk_group", experts.best_groups},
          {"routed_scaling_factor", experts.scale},
          {"norm_topk_prob", true},
          {"score_function", "sigmoid"},
          {"moe_router_enable_expert_bias", true},
          {"use_bias", false},
          {"use_qk_norm", true},
          {"use_qkv_bias", false},
          {"rotary_dim", config.rotary()},
          {"partial_rotary_factor",
           static_cast<double>(config.rotary()) / static_cast<double>(config.head_dim)}};
}

}  // namespace

TransformerConfig TransformerConfig::read(const std::string& checkpoint) {
  if (is_llama2c(checkpoint)) return llama2c_config(checkpoint);
  const ConfigFile file = ConfigFile::in(checkpoint);
  if (is_sedd(file)) return read_sedd(file);
  const Family& family = family_of(file);
  TransformerConfig config;
  config.model_type = family.model_type;
  if (config.gpt2()) return read_gpt2(file);
  const bool llada = config.model_type == "llada";
  require_network(file, config);
  read_sizes(file, config);
  config.rms_norm_eps = file.positive("rms_norm_eps", 1e-6);
  read_positions(file, config);
  if (config.llama()) read_llama(file, config);
  config.tie_word_embeddings =
      file.value<bool>(llada ? "weight_tying" : "tie_word_embeddings", false);
  config.attention_bias = !llada && file.value<bool>("attention_bias", false);
  if (config.llada2()) read_experts(file, config);
  config.block_size = file.integer(block_size_key(config), 0, kWidest, family.block_size);
  config.mask_token_id = file.integer("mask_token_id", -1, config.vocab_size - 1,
                                      family.mask < config.vocab_size ? family.mask : -1);
  config.eos_token_id = stops(file, config.vocab_size);
  return config;
}

void TransformerConfig::write(const std::string& folder) const {
  if (sedd()) return write_whole(folder + "/config.json", sedd_json(*this).dump(2) + "\n");
  Json json{{"model_type", model_type}, {"vocab_size", vocab_size}};
  for (const Family& family : kFamilies)
    if (family.model_type == model_type) json["architectures"] = {family.architecture};
  if (num_encoder_layers > 0) {
    json["architectures"] = {"EncoderDecoder"};
    json["num_encoder_layers"] = num_encoder_layers;
  }
  if (position_vectors) json["position_vectors"] = true;
  const bool llada = model_type == "llada";
  json.update(gpt2() ? gpt2_keys(*this) : llada ? llada_keys(*this) : usual_keys(*this));
  if (!gpt2()) {
    json["rms_norm_eps"] = rms_norm_eps;
    json["rope_theta"] = rope.theta;
  }
  if (llada && head_dim * num_attention_heads != hidden_size) json["head_dim"] = head_dim;
  if (llada2()) {
    json.update(expert_keys(*this));
    json.erase("attention_bias");
  }
  if (model_type == "mistral")
    json["sliding_window"] = sliding_window > 0 ? Json(sliding_window) : Json(nullptr);
  if (block_size > 0) json[block_size_key(*this)] = block_size;
  if (mask_token_id >= 0) json["mask_token_id"] = mask_token_id;
  if (eos_token_id.size() == 1)
    json["eos_token_id"] = eos_token_id[0];
  else if (!eos_token_id.empty())
    json["eos_token_id"] = eos_token_id;
  write_whole(folder + "/config.json", json.dump(2) + "\n");
}

}  // namespace draftlab
