// Hydra's heads (Ankner et al., 2024): prediction heads that depend on one another. Head i reads
// the target's hidden state before the last committed token, the embedding of that token and those
// of the i - 1 drafts behind it, and tells the next token. So a draft sees those before it, and
// none costs the target a forward. A head is one layer with a gate of itself (SiLU) and a
// projection that is added to the state; the target's own projection to the vocabulary makes a law
// of it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plugins/models/nn/transformer/prediction_heads_torch.h"

namespace draftlab {

struct HydraHeads {
  // What is inside the head that reads `read` embeddings beside the state: [f, (read + 1) d], [f],
  // [d, f] and [d].
  struct Head {
    at::Tensor hidden, hidden_bias, project, project_bias;
  };
  std::vector<Head> heads;
  std::int64_t filter = 0;

  std::size_t count() const { return heads.size(); }
  // Makes heads of zeros.
  static HydraHeads zeros(const HeadsShape& shape);
  // Draws N(0, spread) and sets the projections to zero, so that every head begins as the target's
  // own at the state that it reads.
  static HydraHeads random(const HeadsShape& shape, std::uint64_t seed, double spread);
  static std::string digest(const std::string& folder);
  // Reads FOLDER/hydra_heads.safetensors, for a target of hidden width `width` whose weights have
  // the digest `base`. Throws DataError when it is misshapen, or was made for another target.
  static HydraHeads load(const std::string& folder, std::int64_t width, const std::string& base);
  void save(const std::string& folder, bool bf16, const std::string& base) const;
  std::vector<std::pair<std::string, at::Tensor>> named_parameters() const;
  // Maps the state [n, d] and what head `head` (from 0) reads, [n, (head + 2) d] (the state, then
  // the embeddings in the order of the tokens), to the state that the vocabulary's projection
  // reads.
  at::Tensor states(std::size_t head, const at::Tensor& state, const at::Tensor& read,
                    bool bf16) const;
};

}  // namespace draftlab
