// The decoder-only transformer of the Qwen line: RMSNorm, rotary positions, grouped-query attention, SwiGLU. SDAR, Fast-dLLM v2,
// LLaDA, Dream, Qwen2 and Qwen3 are configurations of it; so is GPT-2, with LayerNorm, learned positions, GELU and biases everywhere. With an
// encoder its layers attend the source, too. Weights, files, and the full forward in plain operations, differentiable;
// transformer_rows_torch.h computes it incrementally, transformer_training_torch.h in fused kernels.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace draftlab {

// config.json in Hugging Face's keys. LLaDA has keys and tensor names of its own, which files keep.
struct TransformerConfig {
  std::string model_type = "sdar";  // sdar, Fast_dLLM_Qwen, llada, Dream, qwen2, qwen3, gpt2
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t num_hidden_layers = 0;
  std::int64_t num_encoder_layers = 0;     // above 0: an encoder sees the whole source, and every layer of the decoder attends it
  std::int64_t num_attention_heads = 0;
  std::int64_t num_key_value_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t intermediate_size = 0;
  double rms_norm_eps = 1e-6;              // LayerNorm's in GPT-2
  double rope_theta = 1e6;
  std::int64_t max_position_embeddings = 32768;
  bool tie_word_embeddings = false;
  bool attention_bias = false;             // on all four projections; Qwen2's line has biases on q, k and v whatever this says
  std::int64_t block_size = 0;             // `bd_size` in Fast_dLLM_Qwen; 0: not a block-diffusion model
  std::int64_t mask_token_id = -1;         // -1: none
  std::vector<std::int64_t> eos_token_id;
  bool exact_gelu = false;                 // the error function's in place of GPT-2's; of MAR's blocks, in no file

  // What the family decides.
  bool gpt2() const { return model_type == "gpt2"; }  // LayerNorm with biases, learned positions, GELU with biases
  bool qk_norm() const { return model_type == "sdar" || model_type == "qwen3"; }  // an RMSNorm a head, before the rotation
  bool qkv_bias() const { return attention_bias || model_type == "Fast_dLLM_Qwen" || model_type == "Dream" || model_type == "qwen2"; }
  // The logits for position i stand in row i - 1.
  bool right_shifted() const { return model_type != "sdar" && model_type != "llada"; }

  // DataError when the file cannot be read, is of another family, or asks for something that is not implemented.
  static TransformerConfig read(const std::string& folder);
  void write(const std::string& folder) const;
};

struct TransformerLayer {
  at::Tensor input_layernorm, post_attention_layernorm;  // [d]
  at::Tensor input_layernorm_bias, post_attention_layernorm_bias;  // [d]; GPT-2
  at::Tensor q, k, v;                                    // [heads dh, d], [kv dh, d] twice
  at::Tensor q_bias, k_bias, v_bias;                     // undefined without qkv_bias()
  at::Tensor q_norm, k_norm;                             // [dh]; undefined without qk_norm()
  at::Tensor o, o_bias;                                  // [d, heads dh]; o_bias undefined without attention_bias
  at::Tensor cross_layernorm;                            // [d]; of a decoder with an encoder, as the next four
  at::Tensor cross_q, cross_k, cross_v, cross_o;         // shaped as q, k, v, o; no biases, no rotation
  at::Tensor gate, up, down;                             // [inner, d] twice, [d, inner]; GPT-2 has no gate
  at::Tensor up_bias, down_bias;                         // GPT-2
};

struct Transformer {
  TransformerConfig config;
  at::Tensor embed_tokens;     // [V, d]
  at::Tensor embed_positions;  // [max_position_embeddings, d]; GPT-2
  at::Tensor norm, norm_bias;  // [d]; the bias is GPT-2's
  at::Tensor lm_head;          // [V, d]; the same tensor as embed_tokens when tied
  std::vector<TransformerLayer> layers, encoder;
  at::Tensor encoder_norm;     // [d]

  explicit Transformer(const TransformerConfig& config);  // f32; zeros, norms one
  static Transformer random(const TransformerConfig& config, std::uint64_t seed, double spread = 0.02);  // N(0, spread), biases zero
  // FOLDER/config.json and FOLDER/model.safetensors, or the files that FOLDER/model.safetensors.index.json names, as `type`.
  // DataError names a missing, extra or misshapen tensor.
  static Transformer load(const std::string& folder, at::ScalarType type = at::kFloat);
  // Both files, each written whole or not at all; `bf16`: halves the size.
  void save(const std::string& folder, bool bf16) const;
  // Handles that share storage with the fields, in Hugging Face's names for the Qwen line. A tied lm_head.weight is not listed.
  std::vector<std::pair<std::string, at::Tensor>> named_parameters() const;
};

// The rotation of `positions` (int64, any shape): cosines and sines [..., dh / 2], f32.
std::pair<at::Tensor, at::Tensor> rotary(const at::Tensor& positions, const TransformerConfig& config);

// The full forward. `ids` and `positions` [B, L]; `allowed` is boolean, [L, L] or [B, 1, L, L], true where row i may attend row j.
// The input of every layer, and last the output after the final norm: n + 1 tensors [B, L, d]. `source` [B, S] int64, all of it
// seen, where the network has an encoder.
std::vector<at::Tensor> transformer_hidden(const Transformer& net, const at::Tensor& ids, const at::Tensor& positions,
                                           const at::Tensor& allowed, const at::Tensor& source = {});
// Its logits, [B, L, V], as they stand: row i is row i, shifted or not.
at::Tensor transformer_logits(const Transformer& net, const at::Tensor& ids, const at::Tensor& positions, const at::Tensor& allowed);

}  // namespace draftlab
