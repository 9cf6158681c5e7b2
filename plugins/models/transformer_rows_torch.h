// The same transformer, computed for a few rows at a time: every row leaves its key and value in a sequence's cache and attends
// the rows that it names there. Rows of many sequences go through one forward together, without padding.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/types.h"
#include "plugins/models/row_kernels_torch.h"
#include "plugins/models/row_linear_torch.h"
#include "plugins/models/transformer_torch.h"

namespace draftlab {

// Keys (rotated) and values of one sequence, a slot a row. Both are kept as the panels of a packed product, so that scores are
// "queries times keys" and outputs "weights times values": keys [16 slots][dh][16], values [16 numbers of a head][slots][16].
class RowMemory {
 public:
  RowMemory(const TransformerConfig& config, std::int64_t slots);
  std::int64_t slots() const { return slots_; }
  void reserve(std::int64_t slots);  // keeps what is there
  void put(std::int64_t layer, std::int64_t group, std::int64_t slot, const float* key, const float* value);
  std::vector<float> key(std::int64_t layer, std::int64_t group, std::int64_t slot) const;
  std::vector<float> value(std::int64_t layer, std::int64_t group, std::int64_t slot) const;
  PackedView keys(std::int64_t layer, std::int64_t group, std::int64_t seen) const;
  PackedView values(std::int64_t layer, std::int64_t group, std::int64_t seen) const;

 private:
  std::int64_t groups_, head_, slots_ = 0;
  std::vector<std::vector<float>> keys_, values_;  // [layer * groups + group]
};

// What a row sees of another memory: the slots [0, limit) and [from, end).
struct Outside {
  const RowMemory* memory = nullptr;
  std::int64_t limit = 0, from = 0, end = 0;
};

// One row of a forward. It sees what is outside, then the first `limit` slots of its own memory, then `extras`; its own slot only
// where one of them covers it. Consecutive rows of one memory have one outside.
struct MemoryRow {
  RowMemory* memory = nullptr;
  std::int32_t position = 0;
  Token token = kNoToken;
  std::int64_t slot = 0;  // where its key and value go
  std::int64_t limit = 0;
  std::vector<std::int32_t> extras = {};
  bool asked = false;     // its logits are wanted
  Outside outside = {};
};

class TransformerRows {
 public:
  // Takes the weights apart, layer by layer.
  TransformerRows(Transformer net, bool bf16);
  void prepare(std::int64_t positions);  // rotations of positions below
  // Logits of the asked rows in their order, [asked, V]. What a row gets is, bit for bit, what it gets without the rows of
  // other sequences.
  at::Tensor forward(std::span<const MemoryRow> rows) const;

 private:
  struct Layer {
    RowLinear q, kv, o, gate_up, down;
    std::vector<float> input_norm, post_norm, q_norm, k_norm;
  };
  // Consecutive rows of one memory that are attended together; `seen` slots of it and `outside` of the other, multiples of 16.
  struct Tile {
    std::size_t first, count;
    std::int64_t seen, outside;
  };
  std::vector<Tile> tiles(std::span<const MemoryRow* const> rows) const;
  void attend(std::int64_t layer, std::int64_t group, const Tile& tile, std::span<const MemoryRow* const> rows, const float* q, float* joined) const;
  // A head's norm, where the family has one, and its rotation; times `scale`.
  void turn(float* head, const std::vector<float>& norm, std::int32_t position, float scale) const;

  TransformerConfig config_;
  at::Tensor embedding_;
  std::vector<Layer> layers_;
  std::vector<float> norm_, cosines_, sines_;
  RowLinear head_;
};

}  // namespace draftlab
