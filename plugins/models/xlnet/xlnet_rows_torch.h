// The same network, computed for a few rows at a time: content rows leave their keys and values in
// a cache, query rows read it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/prob/types.h"
#include "plugins/models/kernels/row_linear_torch.h"
#include "plugins/models/transformer/row_memory_torch.h"
#include "plugins/models/xlnet/xlnet_torch.h"

namespace draftlab {

// Keys and values of one sequence's content rows in the order in which they were computed, and
// where those rows stand.
class RowCache {
 public:
  RowCache(const XlnetConfig& config, std::int64_t capacity)
      : memory_(config.n_layer, config.n_head, config.d_head, capacity) {}
  std::int64_t size() const { return static_cast<std::int64_t>(positions_.size()); }
  void truncate(std::int64_t size) { positions_.resize(size); }
  void move(std::int64_t from, std::int64_t to);  // row `from` takes the place of row `to`
  std::int64_t append(std::int32_t position);     // room for one more row: its index

 private:
  friend class XlnetRows;
  RowMemory memory_;
  std::vector<std::int32_t> positions_;
};

// One row of a forward. It attends the first `limit` cached rows and then `extras`.
struct Row {
  RowCache* cache = nullptr;
  std::int32_t position = 0;
  Token token = kNoToken;  // content rows
  std::int64_t index = 0;  // content rows: where their keys and values go
  std::int64_t limit = 0;
  std::vector<std::int32_t> extras;
};

class XlnetRows {
 public:
  XlnetRows(Xlnet net, bool bf16);  // takes the weights apart, layer by layer
  // Makes room for canvases of `length`: relative-position terms depend on weights and offsets
  // alone, so they are computed once.
  void prepare(std::int64_t length);
  // One forward; content rows may attend one another as their limits say. Logits of the query rows,
  // [queries, V].
  at::Tensor forward(std::span<const Row> content, std::span<const Row> queries) const;

 private:
  struct Layer {
    RowLinear q, kv, o, inner, outer;
    at::Tensor content_bias, relative_bias;  // r_w_bias, r_r_bias
    at::Tensor attention_norm, attention_norm_bias, ff_norm, ff_norm_bias;
    at::Tensor r;     // W_r, [d, H dh]
    Panels relative;  // of each head: output N-1-r+p is W_r PE(r-p), of a row at r and a key at p
  };
  // Rows of one cache that are attended together, by their places in the forward, and what one head
  // of them needs: `seen` slots of the cache, and relative outputs [lowest, lowest + offsets);
  // multiples of 16. The first `ordered` slots hold neighbours in order.
  struct Tile {
    std::vector<std::int64_t> rows;
    std::int64_t seen, lowest, offsets, ordered;
  };
  std::vector<Tile> tiles(std::span<const Row* const> rows) const;
  void attend_tile(const Layer& layer, std::size_t l, std::int64_t head, const Tile& tile,
                   std::span<const Row* const> rows, const float* q, float* joined) const;

  XlnetConfig config_;
  Layout layout_;  // of memories
  std::int64_t length_ = 0;
  at::Tensor embedding_, mask_;  // no embedding: the head's weights
  std::vector<Layer> layers_;
  RowLinear head_;
};

}  // namespace draftlab
