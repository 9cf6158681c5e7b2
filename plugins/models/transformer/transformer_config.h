// The shape of a decoder-only transformer, as a checkpoint's config.json states it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace draftlab {

// Layers from `first_layer` on choose, for each row, `chosen` of `count` experts beside the shared
// ones, in the best `best_groups` of `groups` equal groups.
struct Experts {
  std::int64_t count = 0;        // num_experts; 0: none
  std::int64_t chosen = 0;       // num_experts_per_tok
  std::int64_t shared = 0;       // num_shared_experts: one network that is so many times as wide
  std::int64_t inner = 0;        // moe_intermediate_size
  std::int64_t first_layer = 0;  // first_k_dense_replace
  std::int64_t groups = 1, best_groups = 1;  // n_group, topk_group
  double scale = 1;                          // routed_scaling_factor
};

// config.json in Hugging Face's keys. LLaDA has keys and tensor names of its own, which files keep.
struct TransformerConfig {
  std::string model_type =
      "sdar";  // sdar, Fast_dLLM_Qwen, llada, llada2_moe, Dream, qwen2, qwen3, gpt2
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t num_hidden_layers = 0;
  std::int64_t num_encoder_layers =
      0;  // above 0: an encoder sees the whole source, and every layer of the decoder attends it
  std::int64_t num_attention_heads = 0;
  std::int64_t num_key_value_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t intermediate_size = 0;
  double rms_norm_eps = 1e-6;  // LayerNorm's in GPT-2
  double rope_theta = 1e6;
  std::int64_t max_position_embeddings = 32768;
  bool tie_word_embeddings = false;
  bool attention_bias =
      false;  // on all four projections; Qwen2's line has biases on q, k and v whatever this says
  std::int64_t block_size = 0;      // `bd_size` in Fast_dLLM_Qwen; 0: not a block-diffusion model
  std::int64_t mask_token_id = -1;  // -1: none
  std::vector<std::int64_t> eos_token_id;
  bool exact_gelu = false;  // the error function's in place of GPT-2's; of MAR's blocks, in no file
  std::int64_t rotary_dim = 0;  // the first so many numbers of a head turn; 0: all
  Experts experts;              // LLaDA2

  // What the family decides.
  bool gpt2() const {
    return model_type == "gpt2";
  }  // LayerNorm with biases, learned positions, GELU with biases
  bool llada2() const { return model_type == "llada2_moe"; }
  bool qk_norm() const {
    return model_type == "sdar" || model_type == "qwen3" || llada2();
  }  // an RMSNorm a head, before the rotation
  bool qkv_bias() const {
    return attention_bias || model_type == "Fast_dLLM_Qwen" || model_type == "Dream" ||
           model_type == "qwen2";
  }
  // The logits for position i stand in row i - 1.
  bool right_shifted() const { return model_type != "sdar" && model_type != "llada" && !llada2(); }
  std::int64_t rotary() const { return rotary_dim > 0 ? rotary_dim : head_dim; }
  bool has_experts(std::int64_t layer) const {
    return experts.count > 0 && layer >= experts.first_layer;
  }
  // Of a layer's own feed-forward network: the dense one, or the shared expert's.
  std::int64_t inner(std::int64_t layer) const {
    return has_experts(layer) ? experts.shared * experts.inner : intermediate_size;
  }

  // DataError when the file cannot be read, is of another family, or asks for something that is not
  // implemented.
  static TransformerConfig read(const std::string& folder);
  void write(const std::string& folder) const;
};

}  // namespace draftlab
