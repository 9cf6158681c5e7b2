// What the incremental computation of XLNet reads and leaves: the rows of a forward, and the cache
// of a sequence.
#pragma once

#include <cstdint>
#include <vector>

#include "core/prob/types.h"
#include "plugins/models/nn/transformer/row_memory_torch.h"
#include "plugins/models/xlnet/xlnet_torch.h"

namespace draftlab {

// Keys and values of one sequence's content rows in the order in which they were computed, and
// where those rows stand.
class XlnetRowCache {
 public:
  XlnetRowCache(const XlnetConfig& config, std::int64_t capacity)
      : memory_(config.n_layer, config.n_head, config.d_head, capacity) {}
  std::int64_t size() const { return static_cast<std::int64_t>(positions_.size()); }
  void truncate(std::int64_t size) { positions_.resize(size); }
  // Moves row `from` to the place of row `to`.
  void move(std::int64_t from, std::int64_t to);
  // Makes room for one more row and returns its index.
  std::int64_t append(std::int32_t position);

 private:
  friend class XlnetRows;
  friend class DeviceXlnetRows;
  RowMemory memory_;
  std::vector<std::int32_t> positions_;
};

// One row of a forward. It attends the first `limit` cached rows and then `extras`.
struct Row {
  XlnetRowCache* cache = nullptr;
  std::int32_t position = 0;
  // The token of a content row.
  Token token = kNoToken;
  // The place where a content row's keys and values go.
  std::int64_t index = 0;
  std::int64_t limit = 0;
  std::vector<std::int32_t> extras;
};

}  // namespace draftlab
