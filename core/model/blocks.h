// How a canvas is cut into blocks, and blocks into parts. Semi-autoregressive decoding finishes one
// before it begins the next.
#pragma once

#include <algorithm>
#include <cstdint>

namespace draftlab {

// Blocks of `size` positions, of which one begins at `origin`, in [0, size). What lies before it is
// a shorter block of its own. With size 0 the whole canvas is one block. A block is cut into parts
// of `part` positions, from its first position on; with 0 it is not cut.
struct Blocks {
  std::int32_t size = 0;
  std::int32_t origin = 0;
  std::int32_t part = 0;

  // The index of a position's block; the first block of the canvas has index 0.
  int index(std::int32_t position) const {
    if (size == 0) return 0;
    return position < origin ? 0 : (position - origin) / size + (origin > 0 ? 1 : 0);
  }
  // The first position of the block that holds `position`.
  std::int32_t first(std::int32_t position) const {
    if (size == 0 || position < origin) return 0;
    return position - (position - origin) % size;
  }
  // One past the last position of that block, on a canvas of `length` positions.
  std::int32_t end(std::int32_t position, std::int32_t length) const {
    if (size == 0) return length;
    return std::min(length, position < origin ? origin : first(position) + size);
  }
  // The next two give the same for the part that holds the position.
  std::int32_t part_first(std::int32_t position) const {
    return part == 0 ? first(position) : position - (position - first(position)) % part;
  }
  std::int32_t part_end(std::int32_t position, std::int32_t length) const {
    return part == 0 ? end(position, length)
                     : std::min(end(position, length), part_first(position) + part);
  }
};

}  // namespace draftlab
