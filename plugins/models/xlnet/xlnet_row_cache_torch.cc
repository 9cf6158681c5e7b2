#include "plugins/models/xlnet/xlnet_row_cache_torch.h"

namespace draftlab {

void XlnetRowCache::move(std::int64_t from, std::int64_t to) {
  memory_.move(from, to);
  positions_[to] = positions_[from];
}

std::int64_t XlnetRowCache::append(std::int32_t position) {
  // Only many paths at once need more rows than the canvas has positions.
  if (size() == memory_.slots()) memory_.reserve(2 * size());
  positions_.push_back(position);
  return size() - 1;
}

}  // namespace draftlab
