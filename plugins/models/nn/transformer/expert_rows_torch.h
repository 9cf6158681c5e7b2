// The mixture of experts of one layer (LLaDA2), for a few rows at a time: only experts that some
// row chose are computed, each for all of its rows together.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/models/nn/kernels/row_linear_torch.h"
#include "plugins/models/nn/transformer/transformer_torch.h"

namespace draftlab {

struct ExpertChoice {
  std::int32_t expert = 0;
  float weight = 0;
};

// Chooses the experts of a row, by number, from its router's `logits` [E]. Scores are sigmoids; the
// bias [E] decides which experts are chosen, but not with what weight. Chosen are the groups whose
// two best experts are best together, and of these groups the best experts.
std::vector<ExpertChoice> choose_experts(const Experts& experts, const float* logits,
                                         const float* bias);

class ExpertRows {
 public:
  ExpertRows() = default;
  // Takes the layer's experts apart.
  ExpertRows(const Experts& experts, TransformerLayer& from, Precision precision);
  bool empty() const { return networks_.empty(); }
  // Adds to y [rows, d] what the experts compute from x [rows, d]. A row's sum runs over its
  // experts by number.
  void add(const float* x, std::int64_t rows, float* y) const;

 private:
  struct Network {
    RowLinear gate_up, down;
  };
  Experts experts_;
  // The width d.
  std::int64_t width_ = 0;
  // The router is f32 whatever the rest is.
  RowLinear router_;
  std::vector<float> bias_;
  std::vector<Network> networks_;
};

}  // namespace draftlab
