// Answers shallow questions with Hydra's heads (hydra_heads_torch.h). A head needs one state of the
// target, that before the last committed token, which the last verification left; so no row of the
// target is computed, and nothing is remembered.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plugins/models/autoregressive/causal_rows_torch.h"
#include "plugins/models/autoregressive/hydra_heads_torch.h"

namespace draftlab {

// A shallow question, whose target has the state that it needs.
struct HydraQuestion {
  const CausalSequence* sequence = nullptr;
  const Question* question = nullptr;
  // The number of committed tokens of the line.
  std::int64_t committed = 0;
};

// What one asked position reads: the head that answers it, and the tokens from the last committed
// one on.
struct HydraAsk {
  int node = kRoot;
  std::int32_t position = 0;
  const float* state = nullptr;
  std::vector<Token> tokens = {};
  std::size_t head() const { return tokens.size() - 1; }
};

class HydraRows {
 public:
  HydraRows(const HydraHeads& heads, std::int64_t width, Precision precision);
  // Says what each asked position reads. Throws ConfigError where it is further from the committed
  // tokens than there are heads, or not the next one behind its node.
  std::vector<HydraAsk> asks(const HydraQuestion& question) const;
  // Returns the states [asks, d] that the target's projection to the vocabulary reads.
  std::vector<float> states(std::span<const HydraAsk> asks, const TransformerRows& target) const;

 private:
  struct Head {
    RowLinear hidden, project;
  };
  std::size_t width_, filter_;
  // What is read where no token stands before the last committed one.
  std::vector<float> zeros_;
  std::vector<Head> heads_;
};

}  // namespace draftlab
