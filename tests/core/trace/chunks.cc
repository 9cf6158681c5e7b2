// Columns as chunks: made of numbers or of what a file holds, and read back.
#include "core/trace/chunks.h"

#include <doctest/doctest.h>

#include <numeric>

namespace draftlab {
namespace {

constexpr std::size_t kRows = 2 * kChunk + 100;

Values numbers(Type type, bool constant) {
  if (type == Type::float32 || type == Type::float64) {
    std::vector<double> values(kRows);
    for (std::size_t i = 0; i < kRows; ++i)
      values[i] = constant ? 0.5 : static_cast<double>(i % 1000) / 8;
    return values;
  }
  std::vector<std::int64_t> values(kRows);
  for (std::size_t i = 0; i < kRows; ++i)
    values[i] = constant ? -1 : static_cast<std::int64_t>(i * 7 % 101) - 50;
  return values;
}

Stored stored(const Values& values, Type type) {
  Stored bytes;
  store(values, type, bytes);
  return bytes;
}

// What chunks hold; nothing where one is damaged.
Stored unpacked(const Chunks& chunks, Type type, std::size_t rows) {
  Stored all;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (!append_chunk(all, *chunks[i], type,
                      {chunk_rows(rows), std::min(kChunk, rows - i * kChunk)}))
      return {};
  }
  return all;
}

}  // namespace

TEST_CASE("chunks give back the numbers they were made of, as a file holds them") {
  std::vector<std::int64_t> rows(kRows);
  std::iota(rows.rbegin(), rows.rend(), 0);
  for (const Type type : {Type::int8, Type::int32, Type::int64, Type::float32, Type::float64}) {
    for (const bool constant : {false, true}) {
      INFO("type " << name(type) << ", constant " << constant);
      const Values values = numbers(type, constant);
      const Stored whole = stored(values, type);
      REQUIRE(whole.size() == kRows * width(type));
      CHECK(unpacked(make_chunks({{values, type}}, 1).front(), type, kRows) == whole);
      CHECK(unpacked(make_chunks(whole, type, rows, 2), type, kRows) ==
            stored(selected(values, rows), type));
      Values again = empty_values(type);
      widen(whole, type, again);
      CHECK(again == values);
    }
  }
}

TEST_CASE("one number stands for any rows of a column that holds nothing else") {
  std::vector<std::int64_t> rows(kRows);
  std::iota(rows.begin(), rows.end(), 5);
  const Values seven = std::vector<std::int64_t>{7}, many = std::vector<std::int64_t>(kRows, 7);
  CHECK(unpacked(make_chunks(stored(seven, Type::int32), Type::int32, rows, 1), Type::int32,
                 kRows) == stored(many, Type::int32));
}

TEST_CASE("numbers that a type cannot hold become the nearest it can; a damaged chunk is refused") {
  const Values values = std::vector<std::int64_t>{-1000, 1000, 3};
  Values narrow = empty_values(Type::int8);
  widen(stored(values, Type::int8), Type::int8, narrow);
  CHECK(std::get<0>(narrow) == std::vector<std::int64_t>{-128, 127, 3});
  const Chunks chunks = make_chunks({{numbers(Type::int32, false), Type::int32}}, 1).front();
  std::vector<unsigned char> damaged = *chunks[0];
  damaged[damaged.size() / 2] ^= 0xFF;
  Stored some;
  CHECK_FALSE(append_chunk(some, damaged, Type::int32, {kChunk, kChunk}));
}

}  // namespace draftlab
