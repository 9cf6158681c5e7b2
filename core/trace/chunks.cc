#include "core/trace/chunks.h"

#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <thread>
#include <tuple>

#include "core/base/cores.h"
#include "core/base/error.h"

namespace draftlab {
namespace {

static_assert(std::endian::native == std::endian::little, "chunks are stored little-endian");

// The number of chunks that are remembered.
constexpr std::size_t kMostConstant = 512;
// A deflated chunk of at most so many bytes may hold one value throughout.
constexpr std::size_t kMostAlike = 512;
// The number of chunks from which a thread is worth starting.
constexpr std::size_t kFewest = 8;

template <class To, class From>
void convert(const From* from, std::size_t count, unsigned char* to) {
  for (std::size_t i = 0; i < count; ++i) {
    To value;
    if constexpr (std::is_integral_v<To> && sizeof(To) < sizeof(From)) {
      value = static_cast<To>(std::clamp<From>(from[i], std::numeric_limits<To>::min(),
                                               std::numeric_limits<To>::max()));
    } else {
      value = static_cast<To>(from[i]);
    }
    std::memcpy(to + i * sizeof(To), &value, sizeof(To));
  }
}

// Values [first, first + count) of a column.
struct Slice {
  const Values& values;
  std::size_t first = 0, count = 0;
};

void store(const Slice& slice, Type type, unsigned char* to) {
  const auto& [values, first, count] = slice;
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&values)) {
    const std::int64_t* const from = integers->data() + first;
    if (type == Type::int8) return convert<std::int8_t>(from, count, to);
    if (type == Type::int32) return convert<std::int32_t>(from, count, to);
    return convert<std::int64_t>(from, count, to);
  }
  const double* const from = std::get<std::vector<double>>(values).data() + first;
  if (type == Type::float32) return convert<float>(from, count, to);
  convert<double>(from, count, to);
}

template <std::size_t Width>
void unshuffle(const unsigned char* from, std::size_t rows, unsigned char* to) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t byte = 0; byte < Width; ++byte) to[i * Width + byte] = from[byte * rows + i];
  }
}

template <class Narrow, class Wide>
void widen(const unsigned char* from, std::size_t rows, std::vector<Wide>& to) {
  const std::size_t before = to.size();
  to.resize(before + rows);
  for (std::size_t i = 0; i < rows; ++i) {
    Narrow value;
    std::memcpy(&value, from + i * sizeof value, sizeof value);
    to[before + i] = static_cast<Wide>(value);
  }
}

void widen(const unsigned char* from, Type type, std::size_t rows, Values& to) {
  if (type == Type::int8)
    return widen<std::int8_t>(from, rows, std::get<std::vector<std::int64_t>>(to));
  if (type == Type::int32)
    return widen<std::int32_t>(from, rows, std::get<std::vector<std::int64_t>>(to));
  if (type == Type::int64)
    return widen<std::int64_t>(from, rows, std::get<std::vector<std::int64_t>>(to));
  if (type == Type::float32) return widen<float>(from, rows, std::get<std::vector<double>>(to));
  widen<double>(from, rows, std::get<std::vector<double>>(to));
}

template <std::size_t Width>
void pick(const unsigned char* from, std::span<const std::int64_t> rows, unsigned char* to) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::memcpy(to + i * Width, from + static_cast<std::size_t>(rows[i]) * Width, Width);
}

template <std::size_t Width>
void shuffle(const unsigned char* from, std::size_t rows, unsigned char* to) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t byte = 0; byte < Width; ++byte) to[byte * rows + i] = from[i * Width + byte];
  }
}

// Memory that is not initialised, because it is written before it is read.
using Bytes = std::unique_ptr<unsigned char[]>;
Bytes bytes_of(std::size_t size) { return std::make_unique_for_overwrite<unsigned char[]>(size); }

Chunk packed(const Bytes& plain, std::size_t rows, std::size_t bytes, int level) {
  const std::size_t length = rows * bytes;
  Bytes shuffled = bytes_of(length);
  if (bytes == 1)
    std::memcpy(shuffled.get(), plain.get(), length);
  else if (bytes == 4)
    shuffle<4>(plain.get(), rows, shuffled.get());
  else
    shuffle<8>(plain.get(), rows, shuffled.get());
  z_stream stream{};
  // At fast levels deflate looks for repeated bytes only: in shuffled numbers these are most of
  // what can be saved.
  const int strategy = level <= 1 ? Z_RLE : Z_DEFAULT_STRATEGY;
  if (deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS, MAX_MEM_LEVEL, strategy) != Z_OK)
    throw std::bad_alloc();
  const uLong most = deflateBound(&stream, length);
  const Bytes deflated = bytes_of(most);
  stream.next_in = shuffled.get(), stream.avail_in = static_cast<uInt>(length);
  stream.next_out = deflated.get(), stream.avail_out = static_cast<uInt>(most);
  const int result = deflate(&stream, Z_FINISH);
  const std::size_t used = stream.total_out;
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw Fault("a column could not be deflated");
  return std::make_shared<const std::vector<unsigned char>>(deflated.get(), deflated.get() + used);
}

// Says whether all values from `first` on are one, to the last bit.
bool is_constant(const Values& values, std::size_t first, std::size_t count) {
  const auto same = [&](const auto& of) {
    return std::memcmp(&of[first], &of[first + 1], (count - 1) * sizeof of[0]) == 0;
  };
  const auto* const integers = std::get_if<std::vector<std::int64_t>>(&values);
  return integers ? same(*integers) : same(std::get<std::vector<double>>(values));
}

// A column whose chunks are made one by one. `store` writes the numbers of [first, first + count).
// Where all of them are one value it may write that value alone, and says so.
struct OffsetsAndValues {
  Type type;
  std::size_t rows;
  std::function<bool(std::size_t first, std::size_t count, unsigned char* to)> store;
};

Chunk make(const OffsetsAndValues& column, std::size_t at, int level) {
  const std::size_t rows = chunk_rows(column.rows), bytes = width(column.type), first = at * rows,
                    count = std::min(rows, column.rows - first);
  const Bytes plain = bytes_of(rows * bytes);
  const bool constant = column.store(first, count, plain.get());
  const auto fill_up = [&](std::size_t from) {
    for (std::size_t i = from; i < rows; ++i)
      std::memcpy(plain.get() + i * bytes, plain.get() + (i - 1) * bytes, bytes);
  };
  if (!constant) {
    fill_up(count);
    return packed(plain, rows, bytes, level);
  }
  static std::mutex mutex;
  // The chunks by value, width, rows and level.
  static std::map<std::tuple<std::uint64_t, std::size_t, std::size_t, int>, Chunk> known;
  std::uint64_t value = 0;
  std::memcpy(&value, plain.get(), bytes);
  const std::tuple key(value, bytes, rows, level);
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  fill_up(1);
  const Chunk made = packed(plain, rows, bytes, level);
  const std::lock_guard lock(mutex);
  if (known.size() >= kMostConstant) known.clear();
  return known[key] = made;
}

std::vector<Chunks> make_all(const std::vector<OffsetsAndValues>& columns, int level) {
  struct Job {
    std::size_t column, chunk;
  };
  std::vector<Job> jobs;
  std::vector<Chunks> made(columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (!is_chunked(columns[c].type, columns[c].rows)) continue;
    made[c].resize((columns[c].rows + kChunk - 1) / kChunk);
    for (std::size_t i = 0; i < made[c].size(); ++i) jobs.push_back({c, i});
  }
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i; (i = next++) < jobs.size();)
      made[jobs[i].column][jobs[i].chunk] = make(columns[jobs[i].column], jobs[i].chunk, level);
  };
  // Files are read to know how many threads there may be, which costs more than a few chunks.
  std::size_t threads = jobs.size() / kFewest;
  if (threads > 1) threads = std::min(threads, static_cast<std::size_t>(usable_threads()));
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  others.clear();
  return made;
}

}  // namespace

std::size_t width(Type type) {
  switch (type) {
    case Type::int8: return 1;
    case Type::int32:
    case Type::float32: return 4;
    case Type::int64:
    case Type::float64: return 8;
    case Type::text: break;
  }
  throw Fault("a column of text has no chunks");
}

bool is_chunked(Type type, std::size_t rows) {
  return type != Type::text && rows * width(type) > kSmall;
}

std::size_t chunk_rows(std::size_t rows) { return std::min(rows, kChunk); }

void store(const Values& values, Type type, Stored& to) {
  const std::size_t before = to.size(), count = static_cast<std::size_t>(size(values));
  to.resize(before + count * width(type));
  store({values, 0, count}, type, to.data() + before);
}

void widen(const Stored& from, Type type, Values& to) {
  widen(from.data(), type, from.size() / width(type), to);
}

std::vector<Chunks> make_chunks(const std::vector<Unchunked>& columns, int level) {
  std::vector<OffsetsAndValues> sources;
  for (const Unchunked& column : columns) {
    const Values& values = column.values;
    const Type type = column.type;
    sources.push_back({type, static_cast<std::size_t>(size(values)),
                       [&values, type](std::size_t first, std::size_t count, unsigned char* to) {
                         const bool constant = is_constant(values, first, count);
                         store({values, first, constant ? 1 : count}, type, to);
                         return constant;
                       }});
  }
  return make_all(sources, level);
}

Chunks make_chunks(const Stored& column, Type type, const std::vector<std::int64_t>& rows,
                   int level) {
  const auto store = [&](std::size_t first, std::size_t count, unsigned char* to) {
    const std::span some = std::span(rows).subspan(first, count);
    const std::size_t bytes = width(type);
    if (column.size() == bytes) return std::memcpy(to, column.data(), bytes), true;
    if (bytes == 1)
      pick<1>(column.data(), some, to);
    else if (bytes == 4)
      pick<4>(column.data(), some, to);
    else
      pick<8>(column.data(), some, to);
    return std::memcmp(to, to + bytes, (count - 1) * bytes) == 0;
  };
  return std::move(make_all({{type, rows.size(), store}}, level).front());
}

// Where a column holds one value for long, chunks of equal bytes follow one another. Such chunks
// are small, and are inflated once.
bool append_chunk(Stored& to, std::span<const unsigned char> chunk, Type type,
                  const PartOfChunk& part) {
  struct Last {
    std::vector<unsigned char> chunk;
    std::size_t bytes = 0, length = 0;
    Stored plain;
  };
  static thread_local Last last;
  const std::size_t bytes = width(type), length = part.rows * bytes, before = to.size();
  if (last.bytes == bytes && last.length == length &&
      std::equal(chunk.begin(), chunk.end(), last.chunk.begin(), last.chunk.end())) {
    to.insert(to.end(), last.plain.begin(),
              last.plain.begin() + static_cast<std::ptrdiff_t>(part.count * bytes));
    return true;
  }
  const Bytes shuffled = bytes_of(length);
  uLongf inflated = length;
  if (uncompress(shuffled.get(), &inflated, chunk.data(), chunk.size()) != Z_OK ||
      inflated != length)
    return false;
  to.resize(before + length);
  unsigned char* const plain = to.data() + before;
  if (bytes == 1)
    std::memcpy(plain, shuffled.get(), length);
  else if (bytes == 4)
    unshuffle<4>(shuffled.get(), part.rows, plain);
  else
    unshuffle<8>(shuffled.get(), part.rows, plain);
  if (chunk.size() <= kMostAlike) {
    last.chunk.assign(chunk.begin(), chunk.end());
    last.bytes = bytes, last.length = length;
    last.plain.assign(plain, plain + length);
  }
  to.resize(before + part.count * bytes);
  return true;
}

}  // namespace draftlab
