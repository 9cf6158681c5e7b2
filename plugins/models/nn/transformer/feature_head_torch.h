// Heads that draft from a target's hidden states. One kind is a decoder layer that reads, for every
// token, its embedding and a state of the token before. Of a committed token that is the target's
// state; of a draft it is the head's own, so that a head goes on from its drafts. Three published
// heads are cases of it. EAGLE (Li et al., 2024) projects the embedding and the target's last state
// to the row that its layer reads, and learns to foretell the target's next state. MTP
// (DeepSeek-V3, 2024; Qwen3-Next) does the same of both after a norm each, and learns tokens alone.
// EAGLE-3 (Li et al., 2025) projects the states after several layers to one, which is the row; its
// layer attends by the embedding and the row beside one another. It may know the most frequent
// tokens alone, by a projection to these of its own: all others have probability zero.
// The other kind answers a block of positions at once. DFlash (Chen et al., 2026) has a few layers
// whose rows are the last committed token and a mask for each position after it. They attend one
// another, both ways, and keys and values that each layer makes of the target's states of the
// tokens before, which are projected to one and normed.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/prob/types.h"
#include "plugins/models/nn/transformer/feature_kind.h"
#include "plugins/models/nn/transformer/transformer_torch.h"

namespace draftlab {

// What a head is made like, beside its target.
struct FeatureShape {
  FeatureKind kind = FeatureKind::eagle;
  // EAGLE-3 and DFlash: the states that it reads, those after so many of the target's layers (0:
  // what enters the first one).
  std::vector<std::int64_t> taps = {};
  // DFlash: its layers, the rows of a block (the last committed token's included), and the token
  // that is the mask.
  std::int64_t layers = 1, block = 0;
  Token mask = kNoToken;
  // EAGLE-3 and DFlash: the tokens that it knows, in rising order; empty: all.
  std::vector<Token> tokens = {};
  // Whether a text's first token, which has no state before it, has a row (that reads zeros). In
  // the speculators format it has none.
  bool first_row = true;
};

struct FeatureHead {
  // What the layer reads of some rows: x [..., d], and what its attention reads in front of it.
  struct Input {
    at::Tensor x, beside;
  };

  FeatureShape shape;
  // Its layers (one but for DFlash) and the norm behind them, without an embedding or a vocabulary.
  // The authors' layer of EAGLE has no norms at its two ends. Beside a target with an encoder the
  // layer attends what that encoder puts out, after a norm of its own (encoder_norm).
  Transformer net;
  // The shape is [d, m d]: makes one state of m tapped ones; undefined where the last one is read.
  at::Tensor fuse;
  // The shapes are [d]: norms of the embedding and of the state; undefined where there is none.
  at::Tensor embedding_norm, state_norm;
  // The shapes are [d, 2 d] and [d]: what the embedding and the state become before the layer;
  // undefined where the state is the row, and attention reads the embedding beside it.
  at::Tensor join, join_bias;
  // The shape is [d]: a norm before the vocabulary that the next draft does not read; undefined
  // where there is none.
  at::Tensor output_norm;
  // The shapes are [V, d] and [tokens, d]: an embedding and a projection to the vocabulary of its
  // own; undefined where the target's serve.
  at::Tensor embedding, output;
  // The handles of all of these that are stored, in the names of the file.
  std::vector<std::pair<std::string, at::Tensor>> parameters;

  // Makes a head for a target: zeros, and norms of one.
  FeatureHead(const TransformerConfig& target, FeatureShape shape);
  // Draws N(0, spread); the last norm and the projection to the vocabulary begin as the target's.
  static FeatureHead random(const Transformer& target, FeatureShape shape, std::uint64_t seed,
                            double spread);
  static std::string digest(const std::string& folder);
  // Reads FOLDER/feature_head.safetensors, for a target whose weights have the digest `base`. Where
  // there is none, the folder is one of the speculators format (speculator_torch.h), which does not
  // say for which weights it was made. Throws DataError when it is misshapen, or was made for
  // another target.
  static FeatureHead load(const std::string& folder, const TransformerConfig& target,
                          const std::string& base);
  void save(const std::string& folder, bool bf16, const std::string& base) const;

  // The width of what it reads of a token of the target.
  std::int64_t read_width() const;
  // Makes one state [..., d] of what is read of the target, [..., read_width()].
  at::Tensor fused(const at::Tensor& read, bool bf16) const;
  // Returns what the layer reads, given embeddings and states, both [..., d].
  Input joined(const at::Tensor& embedded, const at::Tensor& state, bool bf16) const;
  // Returns the logits of the tokens that it knows, [..., tokens], of its states [..., d];
  // `output` is the target's projection.
  at::Tensor logits(const at::Tensor& states, const at::Tensor& output) const;
  // Keeps, of values of all tokens [..., V], those of the tokens that it knows.
  at::Tensor known(const at::Tensor& values) const;
};

// Returns the tokens of rows of which each says how far its token stands behind it (d2t).
std::vector<Token> tokens_at(const std::vector<std::int64_t>& offsets);

// Throws DataError, for a file or an option that `where` names, unless the shape suits the target.
void check_shape(const FeatureShape& shape, const TransformerConfig& target,
                 const std::string& where);

}  // namespace draftlab
