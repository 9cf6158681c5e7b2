// The decoder-only transformer of the Qwen line: RMSNorm, rotary positions, grouped-query
// attention, SwiGLU. SDAR, Fast-dLLM v2, LLaDA, Dream, Qwen2, Qwen3, Llama and Mistral are
// configurations of it; so is LLaDA2, with a mixture of experts, and GPT-2, with LayerNorm, learned
// positions, GELU and biases everywhere, and SEDD, whose layers read a noise level
// (modulation_torch.h). With an encoder its layers attend the source, too. This file has weights,
// files, and the full forward in plain operations, differentiable; transformer_rows_torch.h
// computes it incrementally, and transformer_training_torch.h in fused kernels.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/models/nn/checkpoint/weight_maker_torch.h"
#include "plugins/models/nn/transformer/transformer_config.h"

namespace draftlab {

// The shapes are [inner, d] twice and [d, inner].
struct FeedForward {
  at::Tensor gate, up, down;
};

// Makes a condition [c] of the features of a noise level, in two steps.
struct NoiseEmbedding {
  // The shapes are [c, 256] and [c, c].
  Linear in, out;
};

struct TransformerLayer {
  // The shapes are [d].
  at::Tensor input_layernorm, post_attention_layernorm;
  // The shapes are [d]; only GPT-2 has these. In SEDD, whose LayerNorm has none, they are zeros.
  at::Tensor input_layernorm_bias, post_attention_layernorm_bias;
  // The shapes are [heads dh, d], and [kv dh, d] twice.
  at::Tensor q, k, v;
  // These are undefined without qkv_bias().
  at::Tensor q_bias, k_bias, v_bias;
  // The shapes are [dh]; undefined without qk_norm().
  at::Tensor q_norm, k_norm;
  // The shape is [d, heads dh]; o_bias is undefined without attention_bias.
  at::Tensor o, o_bias;
  // The shape is [d]. A decoder with an encoder has this, and the next four.
  at::Tensor cross_layernorm;
  // These are shaped as q, k, v and o; they have no biases and no rotation.
  at::Tensor cross_q, cross_k, cross_v, cross_o;
  // The shapes are [inner, d] twice and [d, inner]; only a gated() network has a gate.
  at::Tensor gate, up, down;
  // Only GPT-2 and SEDD have these.
  at::Tensor up_bias, down_bias;
  // The shape is [6 d, c]: of a condition it makes the shift and the scale of the first norm and
  // the gate of attention, then those of the second norm and the network. Undefined without
  // conditioned().
  Linear modulation;
  // The shapes are [E, d] and [E]. A layer with experts has these; gate, up and down are then those
  // of the shared expert.
  at::Tensor router, router_bias;
  std::vector<FeedForward> experts;
};

struct Transformer {
  TransformerConfig config;
  // The shape is [V, d].
  at::Tensor embed_tokens;
  // The shape is [max_position_embeddings, d]; it is empty without learned positions.
  at::Tensor embed_positions;
  // The shapes are [d]; only GPT-2 has the bias. In SEDD it is zeros.
  at::Tensor norm, norm_bias;
  // The shape is [V, d]; it is the same tensor as embed_tokens when tied.
  at::Tensor lm_head;
  // The shape is [V]; only SEDD has it.
  at::Tensor lm_head_bias;
  // Undefined without conditioned(). `modulation` is [2 d, c]: the shift and the scale of the last
  // norm.
  NoiseEmbedding condition;
  Linear modulation;
  std::vector<TransformerLayer> layers, encoder;
  // The shape is [d].
  at::Tensor encoder_norm;

  // Makes f32 weights: zeros, and norms of one.
  explicit Transformer(const TransformerConfig& config);
  // Makes shapes without memory, for `stored_tensors`.
  static Transformer hollow(const TransformerConfig& config);
  // Draws weights from N(0, spread); biases are zero.
  static Transformer random(const TransformerConfig& config, std::uint64_t seed,
                            double spread = 0.02);
  // Reads a folder's config.json and model.safetensors, or the files that
  // model.safetensors.index.json names, or model.gguf; or a file of llama2.c; as `type`. Without a
  // type the weights are as they are stored, in the mapped files, to be read and not written.
  // Throws DataError naming a missing, extra or misshapen tensor.
  static Transformer load(const std::string& checkpoint,
                          std::optional<at::ScalarType> type = at::kFloat);
  // Writes both files, each whole or not at all. `bf16` halves the size.
  void save(const std::string& folder, bool bf16) const;
  // Returns handles that share storage with the fields, in Hugging Face's names for the Qwen line.
  // A tied lm_head.weight is not listed.
  std::vector<std::pair<std::string, at::Tensor>> named_parameters() const;
  // Returns what the family's files hold: GPT-2's and LLaDA2's join some tensors, in copies.
  std::vector<std::pair<std::string, at::Tensor>> stored_tensors() const;
};

// Computes the rotation of `positions` (int64, any shape): cosines and sines [..., rotary() / 2],
// f32.
std::pair<at::Tensor, at::Tensor> rotary(const at::Tensor& positions,
                                         const TransformerConfig& config);

// The next three functions are what layers are made of. norm() is RMSNorm over the last dimension,
// or LayerNorm where there is a bias.
at::Tensor norm(const at::Tensor& x, const at::Tensor& weight, double epsilon,
                const at::Tensor& bias = {});
// The first and the second half of a head, or of that part of it which rotates, turn into one
// another ("rotate half").
at::Tensor rotated(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine);
// The feed-forward network of a layer over x [n, d], in the type of its weights, its experts
// included.
at::Tensor feed_forward(const TransformerLayer& layer, const TransformerConfig& config,
                        const at::Tensor& x);

// What the full forward reads.
struct ForwardInput {
  // The shapes are [B, L].
  at::Tensor ids, positions;
  // Boolean, [L, L] or [B, 1, L, L], true where row i may attend row j.
  at::Tensor allowed;
  // With an encoder: the source [B, S] int64, all of which is seen.
  at::Tensor source = {};
  // Where the network is conditioned(): the noise level of each canvas, [B].
  at::Tensor noise = {};
};

// The full forward. Returns the input of every layer, and last the output after the final norm: n +
// 1 tensors [B, L, d].
std::vector<at::Tensor> transformer_hidden(const Transformer& net, const ForwardInput& input);
// Returns its logits, [B, L, V], as they stand: row i is row i, shifted or not.
at::Tensor transformer_logits(const Transformer& net, const ForwardInput& input);

}  // namespace draftlab
