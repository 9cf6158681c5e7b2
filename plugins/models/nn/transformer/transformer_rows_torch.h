// The transformer of transformer_torch.h, computed for a few rows at a time: every row leaves its
// key and value in a sequence's cache and attends the rows that it names there. Rows of many
// sequences go through one forward together, without padding.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/prob/types.h"
#include "plugins/models/nn/kernels/row_linear_torch.h"
#include "plugins/models/nn/kernels/thread_choice_torch.h"
#include "plugins/models/nn/transformer/expert_rows_torch.h"
#include "plugins/models/nn/transformer/modulation_rows_torch.h"
#include "plugins/models/nn/transformer/prediction_heads_torch.h"
#include "plugins/models/nn/transformer/row_memory_torch.h"
#include "plugins/models/nn/transformer/transformer_torch.h"

namespace draftlab {

// What a row sees of another memory: the slots [0, limit) and [from, end).
struct Outside {
  const RowMemory* memory = nullptr;
  std::int64_t limit = 0, from = 0, end = 0;
};

// The layers that a row goes through: all, or some of them now and the rest later. `state` [d] is
// what is handed over; it is read where `from` is above 0 or the row has no token, and written
// where layers are left.
struct Layers {
  std::int64_t from = 0, until = std::numeric_limits<std::int64_t>::max();
  float* state = nullptr;
};

// One row of a forward. It sees what is outside, then the first `limit` slots of its own memory,
// then `extras`; it sees its own slot only where one of them covers it. Consecutive rows of one
// memory have one outside.
struct MemoryRow {
  RowMemory* memory = nullptr;
  std::int32_t position = 0;
  Token token = kNoToken;
  // The slot where its key and value go.
  std::int64_t slot = 0;
  std::int64_t limit = 0;
  std::vector<std::int32_t> extras = {};
  // Whether its logits are wanted.
  bool asked = false;
  // The number of further prediction heads whose logits are wanted too.
  std::int32_t ahead = 0;
  // The noise level of its canvas, which a conditioned() network reads.
  float noise = 0;
  // Where its state after the last norm, [d], or the states that are tapped are written; nullptr:
  // nowhere.
  float* feature = nullptr;
  // What a layer that reads twice the width reads in front of the row's own state, [d].
  const float* beside = nullptr;
  Outside outside = {};
  Layers layers = {};
  // With an encoder: the keys and values of the source, for each layer of the decoder.
  RowMemory* source = nullptr;
  // With an encoder: the number of rows of the source.
  std::int64_t source_rows = 0;
};

class DeviceRows;

class TransformerRows {
 public:
  // Takes the weights apart, layer by layer. With prediction heads, the first of them answers for
  // the next position. With a device for `tensors`, tensor operations do the work there: an
  // encoder, prediction heads or an early exit are refused (ConfigError), and a row's bits may
  // depend on the rows beside it.
  TransformerRows(Transformer net, Precision precision, const PredictionHeads& heads = {},
                  std::optional<at::Device> tensors = std::nullopt);
  TransformerRows(TransformerRows&&) noexcept;
  ~TransformerRows();
  // Computes the rotations of positions below `positions`.
  void prepare(std::int64_t positions);
  // Lets rows leave, as their feature, the states after so many layers (0: what enters the first
  // one), one behind the other and before any norm, in place of the state after the last norm.
  void tap(std::vector<std::int64_t> layers) { taps_ = std::move(layers); }
  // Returns the logits of the asked rows in their order, [asked + their further heads, V], and for
  // a network without a vocabulary their states after the last norm, [asked, d]. What a row gets
  // is, bit for bit, what it gets without the rows of other sequences, and whether it goes through
  // the layers at once or not.
  at::Tensor forward(std::span<const MemoryRow> rows) const;
  // Runs the encoder, whose rows are all tokens of their sources. Each row leaves the keys and
  // values that the decoder's layers will attend in slot `slot` of its `source`, and what the
  // encoder made of it in its layers' `state`, where it has one; its `memory` serves the encoder
  // alone.
  void encode(std::span<const MemoryRow> rows) const;
  // Lets each row leave keys and values that every layer makes of the row's `layers.state` as it
  // is, in slot `slot` of its memory; nothing else is computed.
  void lend(std::span<const MemoryRow> rows) const;
  // Writes what enters the first layer, x [rows, d].
  void embed(std::span<const MemoryRow> rows, float* x) const;
  // Returns the logits [rows, V] of states after the last norm, [rows, d].
  at::Tensor logits(const float* states, std::int64_t rows) const;

 private:
  struct Norm {
    // Without a bias it is an RMSNorm, else a LayerNorm.
    std::vector<float> weight, bias;
  };
  struct Layer {
    // Where the network is not gated(), `gate_up` is up alone.
    RowLinear q, kv, o, cross_q, cross_kv, cross_o, gate_up, down;
    Norm input, cross, post;
    std::vector<float> q_norm, k_norm;
    ExpertRows experts;
    ModulationMap modulation;
    std::int64_t inner = 0;
    // Whether its attention attends a source, too, and whether it reads what stands beside a row.
    bool crosses = false, wide = false;
  };
  Layer packed(TransformerLayer& from, Precision precision) const;
  void normed(const Norm& norm, const float* x, std::int64_t rows, float* out) const;
  // The rows on their way through layers.
  struct Pass;
  RowConditions conditions(std::span<const MemoryRow> rows) const;
  // Sends all rows x [rows, d] through their layers, in place.
  void run(const std::vector<Layer>& layers, std::span<const MemoryRow> rows,
           const RowConditions& conditions, float* x) const;
  // Writes the states after `layers` layers where rows leave them.
  void leave_taps(std::int64_t layers, const Pass& pass) const;
  // The steps of a layer; attention reads what the pass `reads`, the network what is `inside`.
  void put_keys(const Layer& layer, std::int64_t l, Pass& pass) const;
  // Puts a row's keys and values, [2 groups dh] of a layer, where they belong; the keys are normed
  // and rotated first.
  void put(const Layer& layer, std::int64_t l, const MemoryRow& row, float* kv) const;
  void attend_layer(const Layer& layer, std::int64_t l, bool to_source, Pass& pass) const;
  void feed(const Layer& layer, Pass& pass) const;
  // Computes the prediction heads' states: of asked row i, whose head 1 stands in line[i], and of
  // `ahead[i]` further heads below it.
  void predict(const float* hidden, std::span<const std::int32_t> ahead,
               std::span<const std::int64_t> line, float* states) const;
  // Consecutive rows of one memory that are attended together. They see `seen` slots of it (or of
  // the source) and `outside` slots of the other, both multiples of 16.
  struct Tile {
    const RowMemory* memory;
    std::size_t first, count;
    std::int64_t seen, outside;
  };
  // The attention of some rows in a layer, to their memories or to their sources: their queries,
  // and where the heads' results go, [rows, heads dh] both.
  struct Attention {
    std::int64_t layer;
    std::span<const MemoryRow* const> rows;
    bool to_source;
    const float* q;
    float* joined;
  };
  std::vector<Tile> tiles(const Attention& attention) const;
  void attend(const Attention& attention) const;
  void attend_tile(const Attention& attention, std::int64_t group, const Tile& tile) const;
  // Applies a head's norm, where the family has one, and its rotation, and multiplies by `scale`.
  void rotate(float* head, const std::vector<float>& norm, std::int32_t position,
              float scale) const;

  TransformerConfig config_;
  // The layout of memories.
  Layout layout_;
  RowEmbedding embedding_;
  // The learned positions, if there are any, [max_position_embeddings, d].
  std::vector<float> positions_;
  std::vector<Layer> layers_, encoder_;
  Norm norm_, encoder_norm_;
  ConditionMap condition_;
  ModulationMap modulation_;
  std::vector<float> cosines_, sines_;
  std::unique_ptr<DeviceRows> elsewhere_;
  mutable ThreadChoice threads_;
  bool has_head_ = true;
  std::vector<std::int64_t> taps_;
  RowLinear head_, ahead_hidden_;
  // One projection for each prediction head.
  std::vector<RowLinear> ahead_;
  // The width of all their filters.
  std::int64_t ahead_width_ = 0;
};

}  // namespace draftlab
