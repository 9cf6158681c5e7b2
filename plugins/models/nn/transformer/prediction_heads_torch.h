// Prediction heads of blockwise parallel decoding (Stern et al., 2018, Sec. 4, as their code has
// it): one ReLU layer of width k times filter over the last hidden state, and one projection to k
// hidden states, each added to the one it came from; the vocabulary's projection is shared by all.
// Head 1 passes through it, too: it predicts the next token, and head i the one i - 1 further.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plugins/models/nn/transformer/transformer_torch.h"

namespace draftlab {

// How many heads there are, how wide their filters, and how wide the base.
struct HeadsShape {
  std::int64_t count, filter, width;
};

struct PredictionHeads {
  // The number k of heads; 0 means that there are none.
  std::int64_t count = 0;
  // The shapes are [k filter, d] and [k filter].
  at::Tensor hidden, hidden_bias;
  // The shapes are [k d, k filter] and [k d].
  at::Tensor project, project_bias;
  // Whether head 1 is the base's own, to which nothing is added.
  bool first_is_base = false;

  std::int64_t filter() const { return hidden.size(0) / count; }
  // Draws N(0, spread) and sets the projection to zero, so that every head begins as the base's
  // own.
  static PredictionHeads random(const HeadsShape& shape, std::uint64_t seed, double spread);
  static bool stored(const std::string& folder);
  static std::string digest(const std::string& folder);
  // Reads FOLDER/heads.safetensors, for a base of hidden width `width` whose weights have the
  // digest `base`. Throws DataError when it is misshapen, or was made for another base.
  static PredictionHeads load(const std::string& folder, std::int64_t width,
                              const std::string& base);
  void save(const std::string& folder, bool bf16, const std::string& base) const;
  // Makes head 1 the base's own: what was added to it is zero from now on.
  void leave_first_to_base();
  // Returns handles, and none without heads.
  std::vector<std::pair<std::string, at::Tensor>> named_parameters() const;
  // Maps h [..., d] to the hidden states of heads [first, first + count), [..., count, d].
  at::Tensor states(const at::Tensor& h, std::int64_t first, std::int64_t count, bool bf16) const;
  // Maps h [n, d] to the logits of one head, [n, V] f32. Without heads, head 0 is the base's own.
  at::Tensor logits(const Transformer& base, const at::Tensor& h, int head, bool bf16) const;
};

}  // namespace draftlab
