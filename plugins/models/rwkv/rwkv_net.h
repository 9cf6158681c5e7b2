// RWKV 5.2 and 7, computed row by row. All rows of a call go through a layer together, so that its
// weights are read once; what is recurrent goes from row to row in their order.
//
// A state has for each layer the row before in attention [width], the row before in the
// feed-forward part [width], and a matrix of each head [head_size of keys][head_size of values].
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/recurrent.h"
#include "plugins/models/rwkv/rwkv_weights.h"

namespace draftlab {

class RwkvNet {
 public:
  // `head_epsilon` is added to the variance of a head's results.
  RwkvNet(RwkvWeights weights, double head_epsilon);
  const RwkvWeights& weights() const { return weights_; }
  std::size_t state_size() const;
  // Reads the rows (core/model/recurrent.h). What a row leaves depends on its token and the state
  // before it alone, to the last bit.
  void run(std::span<const RecurrentRow> rows);

 private:
  // Room for numbers of all rows, [rows, width].
  using Rows = std::vector<float>;

  void run_piece(std::span<const RecurrentRow> rows);
  // Adds to x what a layer's attention gives.
  void attend_v5_2(const RwkvLayer& layer, std::span<const RecurrentRow> rows, std::size_t state);
  void attend_v7(const RwkvLayer& layer, std::span<const RecurrentRow> rows, std::size_t state,
                 bool is_first);
  // A head of a row, and its matrix before the row and after it.
  struct HeadState {
    std::int64_t row, head;
    const float* before;
    float* after;
  };
  // Takes every head's matrix on, and adds to x what is read from them.
  void read_heads(const RwkvLayer& layer, std::span<const RecurrentRow> rows, std::size_t state);
  void head_v5_2(const RwkvLayer& layer, const HeadState& state);
  void head_v7(const HeadState& state);
  // Normalises the results of each head, and what is gated goes through the output's weights.
  void add_output(const RwkvLayer& layer, std::int64_t rows);
  // Adds to x what a layer's feed-forward part gives.
  void feed_forward(const RwkvLayer& layer, std::span<const RecurrentRow> rows, std::size_t state);
  // Writes normed_: the norm of x, and shifted_: the row before, which becomes the row itself.
  void shift(const RwkvNorm& norm, std::span<const RecurrentRow> rows, std::size_t state);
  // Writes into `out` the row before plus a share of its distance from the row itself.
  void mix(const float* share, std::int64_t rows, bool of_row_before, Rows& out) const;
  void write_logits(std::span<const RecurrentRow> rows);

  RwkvWeights weights_;
  double head_epsilon_;
  Rows x_, normed_, shifted_, mixed_, r_, k_, v_, gate_, decay_, rate_, removed_, first_, out_,
      inner_, low_;
};

}  // namespace draftlab
