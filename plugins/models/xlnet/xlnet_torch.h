// The XLNet two-stream transformer as an any-subset autoregressive model (AS-ARM): weights, files,
// and the full forward of both streams, differentiable. Incremental decoding is in as_arm_torch.cc.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace draftlab {

// config.json in Hugging Face's keys.
struct XlnetConfig {
  std::int64_t vocab_size = 0;
  std::int64_t d_model = 0;
  std::int64_t n_layer = 0;
  std::int64_t n_head = 0;
  std::int64_t d_head = 0;
  std::int64_t d_inner = 0;
  double layer_norm_eps = 1e-12;
  bool tie_word_embeddings = true;
  std::int64_t mask_token_id =
      6;  // never drawn; -1: every token may be. Ours: Hugging Face keeps it in the tokenizer

  // DataError when the file cannot be read, is of another family, or asks for something XLNet
  // checkpoints do not use.
  static XlnetConfig read(const std::string& folder);
  void write(const std::string& folder) const;
};

struct XlnetLayer {
  at::Tensor q, k, v, o, r;                        // [d, H, dh]; o too
  at::Tensor r_r_bias, r_s_bias, r_w_bias;         // [H, dh]
  at::Tensor seg_embed;                            // [2, H, dh]
  at::Tensor attention_norm, attention_norm_bias;  // [d]
  at::Tensor inner, inner_bias, outer, outer_bias;
  at::Tensor ff_norm, ff_norm_bias;
};

struct Xlnet {
  XlnetConfig config;
  at::Tensor word_embedding;  // [V, d]
  at::Tensor mask_emb;        // [1, 1, d]: the query stream's first hidden state
  at::Tensor lm_weight;       // [V, d]; the same tensor as word_embedding when tied
  at::Tensor lm_bias;         // [V]
  std::vector<XlnetLayer> layers;

  explicit Xlnet(const XlnetConfig& config);       // zeros, norms one
  static Xlnet hollow(const XlnetConfig& config);  // shapes without memory, for `named_parameters`
  static Xlnet random(const XlnetConfig& config,
                      std::uint64_t seed);  // N(0, 0.02), biases zero, norms one
  // FOLDER/config.json and FOLDER/model.safetensors, or the files that
  // FOLDER/model.safetensors.index.json names, as `type`; without one as they are stored, in the
  // mapped files, to be read and not written. DataError names a missing, extra or misshapen tensor.
  static Xlnet load(const std::string& folder, std::optional<at::ScalarType> type = at::kFloat);
  // Both files, each written whole or not at all; `bf16`: halves the size.
  void save(const std::string& folder, bool bf16) const;
  // Hugging Face's names; handles that share storage with the fields. A tied lm_loss.weight is not
  // listed.
  std::vector<std::pair<std::string, at::Tensor>> named_parameters() const;
};

// PE(offset) for offsets first, first - 1, ..., last (float64 inside): [first - last + 1, d].
at::Tensor positional_rows(std::int64_t first, std::int64_t last, std::int64_t d_model);

struct ForwardOptions {
  bool bf16 = false;     // matrix products in bf16; softmax, norms and residuals stay f32
  bool content = false;  // the content stream's last output is wanted, too
  at::Tensor
      segments;  // [B, L] int64; undefined: one segment (exact, since softmax does not see it)
};
struct Hidden {
  at::Tensor content;  // [B, L, d] when asked for
  at::Tensor query;    // [B, T, d]
};

// The full forward of both streams. `blocked_content` [B, L, L] and `blocked_query` [B, T, L] are
// boolean, true where row i may not attend key j; content rows always see themselves. `targets` [B,
// T]: position of each query row.
Hidden two_stream(const Xlnet& net, const at::Tensor& ids, const at::Tensor& blocked_content,
                  const at::Tensor& blocked_query, const at::Tensor& targets,
                  const ForwardOptions& options = {});
// [..., d] -> [..., V].
at::Tensor lm_logits(const Xlnet& net, const at::Tensor& hidden, bool bf16 = false);
// Logits of the query rows, [B, T, V].
at::Tensor two_stream_logits(const Xlnet& net, const at::Tensor& ids,
                             const at::Tensor& blocked_content, const at::Tensor& blocked_query,
                             const at::Tensor& targets, const ForwardOptions& options = {});

}  // namespace draftlab
