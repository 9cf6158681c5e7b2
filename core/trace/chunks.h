// A column as the chunks that an HDF5 file stores: little-endian, shuffled by bytes, deflated. Made
// here rather than by HDF5's filters, because most of a trace's columns hold one value for long:
// such a chunk is deflated once and written many times. And the chunks of many rows are made by all
// of the process's threads, which HDF5 does not do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/trace/columns.h"

namespace draftlab {

using Chunk = std::shared_ptr<const std::vector<unsigned char>>;
using Chunks = std::vector<Chunk>;

constexpr std::size_t kChunk = 16384;  // rows
constexpr std::size_t kSmall =
    16384;  // bytes: a column up to this size is stored plainly, which costs a third less time

bool is_chunked(Type type, std::size_t rows);  // else stored plainly
std::size_t chunk_rows(std::size_t rows);      // of a column of so many
std::size_t width(Type type);                  // bytes of a stored number

// Numbers as a file holds them: little-endian, as wide as their type. What goes from file to file
// needs no other form.
using Stored = std::vector<unsigned char>;
void store(const Values& values, Type type,
           Stored& to);  // appends; numbers that the type cannot hold become the nearest it can
void widen(const Stored& from, Type type, Values& to);  // appends

// The chunks of several columns, none of those that are stored plainly. The last of a column is
// filled up with its last value, which nobody reads.
struct Unchunked {
  const Values& values;
  Type type;
};
std::vector<Chunks> make_chunks(const std::vector<Unchunked>& columns, int level);
// Those of the rows named, in their order; a column of one number stands for any that holds nothing
// else.
Chunks make_chunks(const Stored& column, Type type, const std::vector<std::int64_t>& rows,
                   int level);

// Appends the first `count` of the `rows` values of a chunk that was stored so. False when it is
// damaged.
bool append_chunk(Stored& to, std::span<const unsigned char> chunk, Type type, std::size_t rows,
                  std::size_t count);

}  // namespace draftlab
