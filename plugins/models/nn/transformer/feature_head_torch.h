// The feature head of EAGLE (Li et al., 2024): one decoder layer that reads, for every token, its
// embedding and the target's hidden state of the token before, and foretells the target's hidden
// state of the token itself. The target's own projection to the vocabulary makes the next token's
// law of it. Where the head goes on from its own drafts it reads its own states instead.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plugins/models/nn/transformer/transformer_torch.h"

namespace draftlab {

struct FeatureHead {
  // One layer of the target's shape and the norm behind it, without an embedding or a vocabulary.
  // The authors' layer has no norms at its two ends. Beside a target with an encoder the layer
  // attends what that encoder puts out, after a norm of its own (encoder_norm).
  Transformer net;
  // The shape is [d]: a norm of the embedding before it is joined; undefined where there is none.
  at::Tensor embedding_norm;
  // The shapes are [d, 2 d] and [d]: what the embedding and the state become before the layer.
  at::Tensor join, join_bias;
  // The handles of all of these, in the names of the file.
  std::vector<std::pair<std::string, at::Tensor>> parameters;

  // Makes a head for a target: zeros, and norms of one.
  explicit FeatureHead(const TransformerConfig& target);
  // Draws N(0, spread); the last norm begins as the target's.
  static FeatureHead random(const Transformer& target, std::uint64_t seed, double spread);
  static std::string digest(const std::string& folder);
  // Reads FOLDER/feature_head.safetensors, for a target whose weights have the digest `base`. Where
  // there is none, the folder is one of vLLM's `speculators` (config.json and model.safetensors,
  // algorithm eagle): one layer of a Llama, with or without norms at its ends, which does not say
  // for which weights it was made. Throws DataError when it is misshapen, or was made for another
  // target.
  static FeatureHead load(const std::string& folder, const TransformerConfig& target,
                          const std::string& base);
  void save(const std::string& folder, bool bf16, const std::string& base) const;
  // Maps embeddings and states, both [..., d], to what the layer reads.
  at::Tensor joined(const at::Tensor& embedding, const at::Tensor& state, bool bf16) const;
};

}  // namespace draftlab
