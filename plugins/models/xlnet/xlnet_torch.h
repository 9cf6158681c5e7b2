// The XLNet two-stream transformer as an any-subset autoregressive model (AS-ARM): weights, files,
// and the full forward of both streams, differentiable. Incremental decoding is in
// any_subset_torch.cc.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace draftlab {

// The contents of config.json in Hugging Face's keys.
struct XlnetConfig {
  std::int64_t vocab_size = 0;
  std::int64_t d_model = 0;
  std::int64_t n_layer = 0;
  std::int64_t n_head = 0;
  std::int64_t d_head = 0;
  std::int64_t d_inner = 0;
  double layer_norm_eps = 1e-12;
  bool tie_word_embeddings = true;
  // The mask token is never drawn; with -1 every token may be. The key is this project's own,
  // because Hugging Face keeps it in the tokenizer.
  std::int64_t mask_token_id = 6;

  // Reads a folder's config.json. Throws DataError when the file cannot be read, is of another
  // family, or asks for something that XLNet checkpoints do not use.
  static XlnetConfig read(const std::string& folder);
  void write(const std::string& folder) const;
};

struct XlnetLayer {
  // The shapes are [d, H, dh], also for o.
  at::Tensor q, k, v, o, r;
  // The shapes are [H, dh].
  at::Tensor r_r_bias, r_s_bias, r_w_bias;
  // The shape is [2, H, dh].
  at::Tensor seg_embed;
  // The shapes are [d].
  at::Tensor attention_norm, attention_norm_bias;
  at::Tensor inner, inner_bias, outer, outer_bias;
  at::Tensor ff_norm, ff_norm_bias;
};

struct Xlnet {
  XlnetConfig config;
  // The shape is [V, d].
  at::Tensor word_embedding;
  // The query stream's first hidden state, [1, 1, d].
  at::Tensor mask_emb;
  // The shape is [V, d]; it is the same tensor as word_embedding when tied.
  at::Tensor lm_weight;
  // The shape is [V].
  at::Tensor lm_bias;
  std::vector<XlnetLayer> layers;

  // Makes weights of zeros, and norms of one.
  explicit Xlnet(const XlnetConfig& config);
  // Makes shapes without memory, for `named_parameters`.
  static Xlnet hollow(const XlnetConfig& config);
  // Draws weights from N(0, 0.02); biases are zero, and norms one.
  static Xlnet random(const XlnetConfig& config, std::uint64_t seed);
  // Reads FOLDER/config.json and FOLDER/model.safetensors, or the files that
  // FOLDER/model.safetensors.index.json names, as `type`. Without a type the weights are as they
  // are stored, in the mapped files, to be read and not written. Throws DataError naming a missing,
  // extra or misshapen tensor.
  static Xlnet load(const std::string& folder, std::optional<at::ScalarType> type = at::kFloat);
  // Writes both files, each whole or not at all. `bf16` halves the size.
  void save(const std::string& folder, bool bf16) const;
  // Returns handles that share storage with the fields, in Hugging Face's names. A tied
  // lm_loss.weight is not listed.
  std::vector<std::pair<std::string, at::Tensor>> named_parameters() const;
};

// Computes PE(offset) for offsets first, first - 1, ..., last (float64 inside): [first - last + 1,
// d].
at::Tensor positional_rows(std::int64_t first, std::int64_t last, std::int64_t d_model);

struct ForwardOptions {
  // Matrix products are in bf16; softmax, norms and residuals stay f32.
  bool bf16 = false;
  // The content stream's last output is wanted, too.
  bool content = false;
  // The shape is [B, L], int64. Undefined means one segment (which is exact, since softmax does not
  // see it).
  at::Tensor segments;
};
struct Hidden {
  // The shape is [B, L, d]; it is defined when asked for.
  at::Tensor content;
  // The shape is [B, T, d].
  at::Tensor query;
};

// What both streams read: the tokens [B, L], int64; which keys j a content row or a query row i may
// not attend, [B, L, L] and [B, T, L], boolean (content rows always see themselves); and the
// position of each query row, [B, T].
struct StreamInput {
  at::Tensor ids, blocked_content, blocked_query, targets;
};

// The full forward of both streams.
Hidden two_stream(const Xlnet& net, const StreamInput& input, const ForwardOptions& options = {});
// Maps [..., d] to [..., V].
at::Tensor lm_logits(const Xlnet& net, const at::Tensor& hidden, bool bf16 = false);
// Returns the logits of the query rows, [B, T, V].
at::Tensor two_stream_logits(const Xlnet& net, const StreamInput& input,
                             const ForwardOptions& options = {});

}  // namespace draftlab
