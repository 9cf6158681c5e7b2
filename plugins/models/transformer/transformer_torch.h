// The decoder-only transformer of the Qwen line: RMSNorm, rotary positions, grouped-query
// attention, SwiGLU. SDAR, Fast-dLLM v2, LLaDA, Dream, Qwen2 and Qwen3 are configurations of it; so
// is LLaDA2, with a mixture of experts, and GPT-2, with LayerNorm, learned positions, GELU and
// biases everywhere. With an encoder its layers attend the source, too. Weights, files, and the
// full forward in plain operations, differentiable; transformer_rows_torch.h computes it
// incrementally, transformer_training_torch.h in fused kernels.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/models/transformer/transformer_config.h"

namespace draftlab {

struct FeedForward {
  at::Tensor gate, up, down;
};  // [inner, d] twice, [d, inner]

struct TransformerLayer {
  at::Tensor input_layernorm, post_attention_layernorm;            // [d]
  at::Tensor input_layernorm_bias, post_attention_layernorm_bias;  // [d]; GPT-2
  at::Tensor q, k, v;                 // [heads dh, d], [kv dh, d] twice
  at::Tensor q_bias, k_bias, v_bias;  // undefined without qkv_bias()
  at::Tensor q_norm, k_norm;          // [dh]; undefined without qk_norm()
  at::Tensor o, o_bias;               // [d, heads dh]; o_bias undefined without attention_bias
  at::Tensor cross_layernorm;         // [d]; of a decoder with an encoder, as the next four
  at::Tensor cross_q, cross_k, cross_v, cross_o;  // shaped as q, k, v, o; no biases, no rotation
  at::Tensor gate, up, down;                      // [inner, d] twice, [d, inner]; GPT-2 has no gate
  at::Tensor up_bias, down_bias;                  // GPT-2
  at::Tensor router, router_bias;  // [E, d], [E]; of a layer with experts: then the three above are
                                   // the shared one's
  std::vector<FeedForward> experts;
};

struct Transformer {
  TransformerConfig config;
  at::Tensor embed_tokens;     // [V, d]
  at::Tensor embed_positions;  // [max_position_embeddings, d]; GPT-2
  at::Tensor norm, norm_bias;  // [d]; the bias is GPT-2's
  at::Tensor lm_head;          // [V, d]; the same tensor as embed_tokens when tied
  std::vector<TransformerLayer> layers, encoder;
  at::Tensor encoder_norm;  // [d]

  explicit Transformer(const TransformerConfig& config);  // f32; zeros, norms one
  static Transformer hollow(
      const TransformerConfig& config);  // shapes without memory, for `stored_tensors`
  static Transformer random(const TransformerConfig& config, std::uint64_t seed,
                            double spread = 0.02);  // N(0, spread), biases zero
  // FOLDER/config.json and FOLDER/model.safetensors, or the files that
  // FOLDER/model.safetensors.index.json names, as `type`; without one as they are stored, in the
  // mapped files, to be read and not written. DataError names a missing, extra or misshapen tensor.
  static Transformer load(const std::string& folder,
                          std::optional<at::ScalarType> type = at::kFloat);
  // Both files, each written whole or not at all; `bf16`: halves the size.
  void save(const std::string& folder, bool bf16) const;
  // Handles that share storage with the fields, in Hugging Face's names for the Qwen line. A tied
  // lm_head.weight is not listed.
  std::vector<std::pair<std::string, at::Tensor>> named_parameters() const;
  // What the family's files hold: GPT-2's and LLaDA2's join some of them, in copies.
  std::vector<std::pair<std::string, at::Tensor>> stored_tensors() const;
};

// The rotation of `positions` (int64, any shape): cosines and sines [..., rotary() / 2], f32.
std::pair<at::Tensor, at::Tensor> rotary(const at::Tensor& positions,
                                         const TransformerConfig& config);

// What layers are made of. RMSNorm over the last dimension, or LayerNorm where there is a bias:
at::Tensor norm(const at::Tensor& x, const at::Tensor& weight, double epsilon,
                const at::Tensor& bias = {});
// the first and the second half of a head, or of that part of it which turns, turn into one another
// ("rotate half");
at::Tensor rotated(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine);
// and the feed-forward network of a layer over x [n, d], in the type of its weights, its experts
// included.
at::Tensor feed_forward(const TransformerLayer& layer, const TransformerConfig& config,
                        const at::Tensor& x);

// The full forward. `ids` and `positions` [B, L]; `allowed` is boolean, [L, L] or [B, 1, L, L],
// true where row i may attend row j. The input of every layer, and last the output after the final
// norm: n + 1 tensors [B, L, d]. `source` [B, S] int64, all of it seen, where the network has an
// encoder.
std::vector<at::Tensor> transformer_hidden(const Transformer& net, const at::Tensor& ids,
                                           const at::Tensor& positions, const at::Tensor& allowed,
                                           const at::Tensor& source = {});
// Its logits, [B, L, V], as they stand: row i is row i, shifted or not.
at::Tensor transformer_logits(const Transformer& net, const at::Tensor& ids,
                              const at::Tensor& positions, const at::Tensor& allowed);

}  // namespace draftlab
