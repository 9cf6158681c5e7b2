#include "plugins/models/nn/transformer/transformer_config.h"

#include <map>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/words.h"
#include "plugins/models/nn/checkpoint/config_json.h"
#include "plugins/models/nn/checkpoint/llama2c.h"
#include "plugins/models/nn/transformer/llama_config.h"

namespace draftlab {
namespace {

constexpr std::int64_t kWidest = 1 << 20;

// Reads `eos_token_id`, which holds one id, several or none.
std::vector<std::int64_t> stops(const Json& json, const std::string& path,
                                std::int64_t vocabulary) {
  if (!json.contains("eos_token_id") || !json["eos_token_id"].is_array()) {
    const std::int64_t eos = integer(json, path, "eos_token_id", -1, vocabulary - 1, -1);
    return eos < 0 ? std::vector<std::int64_t>{} : std::vector{eos};
  }
  const auto several = value<std::vector<std::int64_t>>(json, path, "eos_token_id", {});
  for (const std::int64_t eos : several) {
    if (eos < 0 || eos >= vocabulary)
      throw DataError("{}: 'eos_token_id' holds {}, outside the vocabulary of {}", path, eos,
                      vocabulary);
  }
  return several;
}

// The families by the classes that `architectures` names, for a config without a model_type.
const std::map<std::string, std::string>& architectures() {
  static const std::map<std::string, std::string> all{
      {"SDARForCausalLM", "sdar"},       {"Fast_dLLM_QwenForCausalLM", "Fast_dLLM_Qwen"},
      {"LLaDAModelLM", "llada"},         {"LLaDA2MoeModelLM", "llada2_moe"},
      {"DreamModel", "Dream"},           {"Qwen2ForCausalLM", "qwen2"},
      {"Qwen3ForCausalLM", "qwen3"},     {"LlamaForCausalLM", "llama"},
      {"MistralForCausalLM", "mistral"}, {"GPT2LMHeadModel", "gpt2"}};
  return all;
}

// Returns the family. Throws DataError that says what the file is instead.
std::string family_of(const Json& json, const std::string& path) {
  const auto type = value<std::string>(json, path, "model_type", "");
  std::string known, own;
  for (const auto& [architecture, family] : architectures()) {
    if (family == type) return family;
    known += (known.empty() ? "" : ", ") + family;
  }
  if (json.contains("architectures") && json["architectures"].is_array() &&
      !json["architectures"].empty() && json["architectures"][0].is_string()) {
    own = json["architectures"][0];
    if (const auto found = architectures().find(own);
        type.empty() && found != architectures().end())
      return found->second;
  }
  throw DataError("{}: is a checkpoint of another family, model_type '{}'{} instead of {}", path,
                  type.empty() ? "(none)" : type, own.empty() ? "" : " (" + own + ")", known);
}

// Reads LLaDA2's keys that the other families do not have.
void read_experts(const Json& json, const std::string& path, TransformerConfig& config) {
  for (const char* off : {"use_bias", "use_qkv_bias"}) require(json, path, off, false);
  for (const char* on : {"use_qk_norm", "norm_topk_prob", "moe_router_enable_expert_bias"})
    require(json, path, on, true);
  require(json, path, "score_function", "sigmoid");
  Experts& experts = config.experts;
  experts.count = integer(json, path, "num_experts", 1, 65536, 0);
  experts.chosen = integer(json, path, "num_experts_per_tok", 1, experts.count, 0);
  experts.shared = integer(json, path, "num_shared_experts", 1, 64, 0);
  experts.inner = integer(json, path, "moe_intermediate_size", 1, kWidest, 0);
  experts.first_layer =
      integer(json, path, "first_k_dense_replace", 0, config.num_hidden_layers, 0);
  experts.groups = integer(json, path, "n_group", 1, experts.count, 1);
  experts.best_groups = integer(json, path, "topk_group", 1, experts.groups, experts.groups);
  experts.scale = value<double>(json, path, "routed_scaling_factor", 1);
  if (experts.count % experts.groups)
    throw DataError("{}: 'num_experts' is {}, no multiple of the {} of 'n_group'", path,
                    experts.count, experts.groups);
  if (experts.chosen > experts.count / experts.groups * experts.best_groups) {
    throw DataError("{}: 'num_experts_per_tok' is {}, more than the experts of 'topk_group' groups",
                    path, experts.chosen);
  }
  const auto part = value<double>(json, path, "partial_rotary_factor", 1);
  config.rotary_dim =
      integer(json, path, "rotary_dim", 2, config.head_dim,
              static_cast<std::int64_t>(part * static_cast<double>(config.head_dim)));
  if (config.rotary_dim % 2)
    throw DataError("{}: 'rotary_dim' is {}, it must be even", path, config.rotary_dim);
}

// Reads GPT-2's config, which has keys of its own.
TransformerConfig read_gpt2(const Json& json, const std::string& path) {
  require(json, path, "activation_function", "gelu_new");
  require(json, path, "scale_attn_weights", true);
  require(json, path, "scale_attn_by_inverse_layer_idx", false);
  TransformerConfig config;
  config.model_type = "gpt2";
  config.vocab_size = integer(json, path, "vocab_size", 1, 10'000'000, 0);
  config.hidden_size = integer(json, path, "n_embd", 1, kWidest, 0);
  config.num_hidden_layers = integer(json, path, "n_layer", 1, 1024, 0);
  config.num_attention_heads = config.num_key_value_heads =
      integer(json, path, "n_head", 1, 4096, 0);
  if (config.hidden_size % config.num_attention_heads) {
    throw DataError("{}: 'n_embd' is {}, no multiple of the {} of 'n_head'", path,
                    config.hidden_size, config.num_attention_heads);
  }
  config.head_dim = config.hidden_size / config.num_attention_heads;
  config.intermediate_size = integer(json, path, "n_inner", 1, kWidest, 4 * config.hidden_size);
  config.max_position_embeddings = integer(json, path, "n_positions", 1, kWidest, 0);
  config.rms_norm_eps = value<double>(json, path, "layer_norm_epsilon", 1e-5);
  if (!(config.rms_norm_eps > 0))
    throw DataError("{}: 'layer_norm_epsilon' must be positive", path);
  config.tie_word_embeddings = config.attention_bias = true;
  config.eos_token_id = stops(json, path, config.vocab_size);
  return config;
}

}  // namespace

TransformerConfig TransformerConfig::read(const std::string& checkpoint) {
  if (is_llama2c(checkpoint)) return llama2c_config(checkpoint);
  const std::string path = checkpoint + "/config.json";
  const Json json = parsed(path, "a checkpoint is a folder with config.json and model.safetensors");
  TransformerConfig config;
  config.model_type = family_of(json, path);
  if (config.gpt2()) return read_gpt2(json, path);
  const bool fast = config.model_type == "Fast_dLLM_Qwen", sdar = config.model_type == "sdar",
             llada = config.model_type == "llada", dream = config.model_type == "Dream";
  if (llada) {
    for (const char* off : {"alibi", "attention_layer_norm", "include_bias", "include_qkv_bias",
                            "input_emb_norm", "multi_query_attention", "scale_logits"})
      require(json, path, off, false);
    require(json, path, "activation_type", "silu");
    require(json, path, "block_type", "llama");
    require(json, path, "layer_norm_type", "rms");
    require(json, path, "rope", true);
  } else {
    require(json, path, "hidden_act", "silu");
    require(json, path, "use_sliding_window", false);
    if (!config.llama()) require(json, path, "rope_scaling", nullptr);
  }

  const auto key = [llada](const char* usual, const char* of_llada) {
    return llada ? of_llada : usual;
  };
  config.vocab_size =
      integer(json, path,
              llada && json.contains("embedding_size") && !json["embedding_size"].is_null()
                  ? "embedding_size"
                  : "vocab_size",
              1, 10'000'000, 0);
  config.hidden_size = integer(json, path, key("hidden_size", "d_model"), 1, kWidest, 0);
  config.num_hidden_layers = integer(json, path, key("num_hidden_layers", "n_layers"), 1, 1024, 0);
  config.num_encoder_layers = integer(json, path, "num_encoder_layers", 0, 1024, 0);
  config.num_attention_heads =
      integer(json, path, key("num_attention_heads", "n_heads"), 1, 4096, 0);
  config.num_key_value_heads = integer(json, path, key("num_key_value_heads", "n_kv_heads"), 1,
                                       4096, config.num_attention_heads);
  config.head_dim =
      integer(json, path, "head_dim", 2, kWidest, config.hidden_size / config.num_attention_heads);
  config.intermediate_size =
      integer(json, path, key("intermediate_size", "mlp_hidden_size"), 1, kWidest, 0);
  config.max_position_embeddings =
      integer(json, path, key("max_position_embeddings", "max_sequence_length"), 1, kWidest,
              config.max_position_embeddings);
  if (config.head_dim % 2)
    throw DataError("{}: 'head_dim' is {}, it must be even", path, config.head_dim);
  if (config.num_attention_heads % config.num_key_value_heads) {
    throw DataError("{}: 'num_attention_heads' is {}, no multiple of the {} 'num_key_value_heads'",
                    path, config.num_attention_heads, config.num_key_value_heads);
  }
  config.rms_norm_eps = value<double>(json, path, "rms_norm_eps", 1e-6);
  if (!(config.rms_norm_eps > 0)) throw DataError("{}: 'rms_norm_eps' must be positive", path);
  config.rope = read_rope(json, path);
  if (!config.llama() && config.rope.scaling.kind != RopeKind::none)
    throw DataError("{}: 'rope_parameters' asks for the scaling '{}', which {} has not", path,
                    word(config.rope.scaling.kind), config.model_type);
  if (config.llama()) read_llama(json, path, config);
  config.tie_word_embeddings =
      value<bool>(json, path, key("tie_word_embeddings", "weight_tying"), false);
  config.attention_bias = !llada && value<bool>(json, path, "attention_bias", false);
  if (config.llada2()) read_experts(json, path, config);

  // Real checkpoints may leave the mask to their code, which writes these numbers.
  const std::int64_t usual = sdar              ? 151669
                             : fast            ? 151665
                             : dream           ? 151666
                             : llada           ? 126336
                             : config.llada2() ? 156895
                                               : -1;
  config.block_size = integer(json, path, fast ? "bd_size" : "block_size", 0, kWidest,
                              fast || config.llada2() ? 32
                              : sdar                  ? 4
                                                      : 0);
  config.mask_token_id = integer(json, path, "mask_token_id", -1, config.vocab_size - 1,
                                 usual < config.vocab_size ? usual : -1);
  config.eos_token_id = stops(json, path, config.vocab_size);
  return config;
}

void TransformerConfig::write(const std::string& folder) const {
  std::string architecture;
  for (const auto& [name, family] : architectures())
    if (family == model_type) architecture = name;
  Json json{{"architectures", {architecture}},
            {"model_type", model_type},
            {"vocab_size", vocab_size},
            {"rms_norm_eps", rms_norm_eps},
            {"rope_theta", rope.theta}};
  if (gpt2()) {
    json = {{"architectures", {architecture}},
            {"model_type", model_type},
            {"activation_function", "gelu_new"},
            {"vocab_size", vocab_size},
            {"n_embd", hidden_size},
            {"n_layer", num_hidden_layers},
            {"n_head", num_attention_heads},
            {"n_inner", intermediate_size},
            {"n_positions", max_position_embeddings},
            {"layer_norm_epsilon", rms_norm_eps}};
  } else if (model_type == "llada") {
    json.update({{"activation_type", "silu"},
                 {"alibi", false},
                 {"attention_layer_norm", false},
                 {"block_type", "llama"},
                 {"d_model", hidden_size},
                 {"embedding_size", vocab_size},
                 {"include_bias", false},
                 {"include_qkv_bias", false},
                 {"input_emb_norm", false},
                 {"layer_norm_type", "rms"},
                 {"max_sequence_length", max_position_embeddings},
                 {"mlp_hidden_size", intermediate_size},
                 {"multi_query_attention", nullptr},
                 {"n_heads", num_attention_heads},
                 {"n_kv_heads", num_key_value_heads},
                 {"n_layers", num_hidden_layers},
                 {"rope", true},
                 {"scale_logits", false},
                 {"weight_tying", tie_word_embeddings}});
    if (head_dim * num_attention_heads != hidden_size) json["head_dim"] = head_dim;
  } else {
    json.update({{"hidden_act", "silu"},
                 {"hidden_size", hidden_size},
                 {"num_hidden_layers", num_hidden_layers},
                 {"num_attention_heads", num_attention_heads},
                 {"num_key_value_heads", num_key_value_heads},
                 {"head_dim", head_dim},
                 {"intermediate_size", intermediate_size},
                 {"rope_scaling", rope_scaling_json(rope.scaling)},
                 {"max_position_embeddings", max_position_embeddings},
                 {"use_sliding_window", false},
                 {"tie_word_embeddings", tie_word_embeddings},
                 {"attention_bias", attention_bias}});
  }
  if (llada2()) {
    json.update(
        {{"num_experts", experts.count},
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
         {"rotary_dim", rotary()},
         {"partial_rotary_factor", static_cast<double>(rotary()) / static_cast<double>(head_dim)}});
    json.erase("attention_bias");
  }
  if (model_type == "mistral")
    json["sliding_window"] = sliding_window > 0 ? Json(sliding_window) : Json(nullptr);
  if (num_encoder_layers > 0) {
    json["architectures"] = {"EncoderDecoder"};
    json["num_encoder_layers"] = num_encoder_layers;
  }
  if (block_size > 0) json[model_type == "Fast_dLLM_Qwen" ? "bd_size" : "block_size"] = block_size;
  if (mask_token_id >= 0) json["mask_token_id"] = mask_token_id;
  if (eos_token_id.size() == 1)
    json["eos_token_id"] = eos_token_id[0];
  else if (!eos_token_id.empty())
    json["eos_token_id"] = eos_token_id;
  write_whole(folder + "/config.json", json.dump(2) + "\n");
}

}  // namespace draftlab
