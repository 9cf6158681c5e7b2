// A column as the chunks that an HDF5 file stores: little-endian, shuffled by bytes, deflated. The
// chunks are made here rather than by HDF5's filters, because most columns of a trace hold one
// value for long: such a chunk is deflated once and written many times. And the chunks of many rows
// are made by all of the process's threads, which HDF5 does not do.
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

constexpr std::size_t kChunk = 16384;  // The number of rows in a chunk.
// A column up to this many bytes is stored plainly, which costs a third less time.
constexpr std::size_t kSmall = 16384;

// Says whether a column is stored as chunks; else it is stored plainly.
bool is_chunked(Type type, std::size_t rows);
// Returns the rows of a chunk in a column of `rows` rows.
std::size_t chunk_rows(std::size_t rows);
// Returns the bytes of a stored number.
std::size_t width(Type type);

// Numbers as a file holds them: little-endian, as wide as their type. What is copied from file to
// file needs no other form.
using Stored = std::vector<unsigned char>;
// Appends values to `to`. Numbers that the type cannot hold become the nearest it can.
void store(const Values& values, Type type, Stored& to);
// Appends stored numbers to `to`.
void widen(const Stored& from, Type type, Values& to);

// Makes the chunks of several columns, but none for those that are stored plainly. The last chunk
// of a column is filled up with its last value, which nobody reads.
struct Unchunked {
  const Values& values;
  Type type;
};
std::vector<Chunks> make_chunks(const std::vector<Unchunked>& columns, int level);
// Makes chunks of the rows that are named, in their order. A column of one number stands for a
// column of any length that holds nothing else.
Chunks make_chunks(const Stored& column, Type type, const std::vector<std::int64_t>& rows,
                   int level);

// The leading `count` of the `rows` values of a chunk.
struct PartOfChunk {
  std::size_t rows = 0, count = 0;
};
// Appends a part of a chunk that was stored so. Returns false when the chunk is damaged.
bool append_chunk(Stored& to, std::span<const unsigned char> chunk, Type type,
                  const PartOfChunk& part);

}  // namespace draftlab
