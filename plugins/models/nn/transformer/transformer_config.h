// The shape of a decoder-only transformer, as a checkpoint's config.json states it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/models/nn/transformer/rope_scaling.h"

namespace draftlab {

// From `first_layer` on, layers choose for each row `chosen` of `count` experts beside the shared
// ones, in the best `best_groups` of `groups` equal groups.
struct Experts {
  // The key num_experts; 0 means that there are none.
  std::int64_t count = 0;
  // The key num_experts_per_tok.
  std::int64_t chosen = 0;
  // The key num_shared_experts: one network that is so many times as wide.
  std::int64_t shared = 0;
  // The key moe_intermediate_size.
  std::int64_t inner = 0;
  // The key first_k_dense_replace.
  std::int64_t first_layer = 0;
  // The keys n_group and topk_group.
  std::int64_t groups = 1, best_groups = 1;
  // The key routed_scaling_factor.
  double scale = 1;
};

// The contents of config.json in Hugging Face's keys. LLaDA has keys and tensor names of its own,
// which files keep.
struct TransformerConfig {
  // One of sdar, Fast_dLLM_Qwen, llada, llada2_moe, Dream, qwen2, qwen3, llama, mistral, gpt2 and
  // sedd, which stands in no file.
  std::string model_type = "sdar";
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t num_hidden_layers = 0;
  // Above 0, an encoder sees the whole source, and every layer of the decoder attends it.
  std::int64_t num_encoder_layers = 0;
  std::int64_t num_attention_heads = 0;
  std::int64_t num_key_value_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t intermediate_size = 0;
  // In GPT-2 and SEDD this is LayerNorm's epsilon.
  double rms_norm_eps = 1e-6;
  // The base and the scaling of rotary positions.
  Rope rope{1e6, {}};
  std::int64_t max_position_embeddings = 32768;
  // The key position_vectors, which no published family has: a learned vector of its position is
  // added to a row's token, beside the rotation.
  bool position_vectors = false;
  // A row of Mistral attends so many rows at most, itself included; 0: all before it. Rows are
  // computed without a window, so canvases that are longer are refused.
  std::int64_t sliding_window = 0;
  bool tie_word_embeddings = false;
  // Biases on all four projections; Qwen2's line has biases on q, k and v whatever this says.
  bool attention_bias = false;
  // The key `bd_size` in Fast_dLLM_Qwen; 0 means that the model is not a block-diffusion model.
  std::int64_t block_size = 0;
  // The mask token; -1 means that there is none.
  std::int64_t mask_token_id = -1;
  std::vector<std::int64_t> eos_token_id;
  // GELU by the error function in place of GPT-2's approximation. MAR's blocks use it; it stands in
  // no file.
  bool exact_gelu = false;
  // So many first numbers of a head are rotated; 0 rotates all.
  std::int64_t rotary_dim = 0;
  // The experts of LLaDA2.
  Experts experts;
  // SEDD's key cond_dim: the width of what the canvas's noise level becomes, by which every layer's
  // norms and sums are modulated; 0: no noise level is read.
  std::int64_t condition_dim = 0;

  // The next functions say what the family decides.
  // GPT-2 has LayerNorm with biases, learned positions, and GELU with biases.
  bool gpt2() const { return model_type == "gpt2"; }
  bool learned_positions() const { return gpt2() || position_vectors; }
  bool llada2() const { return model_type == "llada2_moe"; }
  // SEDD has LayerNorm without biases, rotary positions, and GELU and the head with biases.
  bool sedd() const { return model_type == "sedd"; }
  // Whether the feed-forward network is a gated one.
  bool gated() const { return !gpt2() && !sedd(); }
  bool conditioned() const { return condition_dim > 0; }
  // Llama, and Mistral, whose network is the same.
  bool llama() const { return model_type == "llama" || model_type == "mistral"; }
  // Whether each head has an RMSNorm before the rotation.
  bool qk_norm() const { return model_type == "sdar" || model_type == "qwen3" || llada2(); }
  bool qkv_bias() const {
    return attention_bias || model_type == "Fast_dLLM_Qwen" || model_type == "Dream" ||
           model_type == "qwen2";
  }
  // Whether the logits for position i stand in row i - 1.
  bool right_shifted() const {
    return model_type != "sdar" && model_type != "llada" && !llada2() && !sedd();
  }
  std::int64_t rotary() const { return rotary_dim > 0 ? rotary_dim : head_dim; }
  bool has_experts(std::int64_t layer) const {
    return experts.count > 0 && layer >= experts.first_layer;
  }
  // The inner width of a layer's own feed-forward network: the dense one, or the shared expert's.
  std::int64_t inner(std::int64_t layer) const {
    return has_experts(layer) ? experts.shared * experts.inner : intermediate_size;
  }

  // Reads a folder's config.json, or the header of a file of llama2.c. Throws DataError when the
  // file cannot be read, is of another family, or asks for something that is not implemented.
  static TransformerConfig read(const std::string& checkpoint);
  void write(const std::string& folder) const;
};

}  // namespace draftlab
