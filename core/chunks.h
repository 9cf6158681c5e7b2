// A column as the chunks that an HDF5 file stores: little-endian, shuffled by bytes, deflated. Made here rather than by HDF5's
// filters, because most of a trace's columns hold one value for long: such a chunk is deflated once and written many times. And
// the chunks of a long column are made by all of the process's threads, which HDF5 does not do.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/columns.h"

namespace draftlab {

using Chunk = std::shared_ptr<const std::vector<unsigned char>>;

// Calls take(i, chunk) for each chunk of `rows` values, in order; the last is filled up with its last value, which nobody reads. Of
// numbers only; those that the type cannot hold become the nearest it can.
void make_chunks(const Values& values, Type type, std::size_t rows, int level, const std::function<void(std::size_t, const Chunk&)>& take);

// Appends the first `count` of the `rows` values of a chunk that was stored so. False when it is damaged.
bool append_chunk(Values& to, std::span<const unsigned char> chunk, Type type, std::size_t rows, std::size_t count);

}  // namespace draftlab
