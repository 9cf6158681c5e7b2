// What products of bf16 are given, whether tiles or pairs compute them.
#pragma once

#include <cstdint>

namespace draftlab::bf16 {

constexpr std::int64_t kTileBytes = 1024;

// The product of up to 32 rows of x with neighbouring panels of 16 outputs each.
struct TileJob {
  // The tiles of the first sixteen rows, and those of the other rows or null.
  const char *upper, *lower;
  // The same rows in f32, or null.
  const float* wide;
  std::int64_t rows, chunks;
  // The first panel.
  const char* first;
  std::int64_t panels, panel_bytes;
  // The bias of the first panel, or null.
  const float* bias;
  // The first row and output of y, whose rows are `stride` numbers apart.
  float* y;
  std::int64_t stride;
  // Weights that are wanted soon; some of their cache lines are prefetched at each chunk.
  const char* next;
  std::int64_t lines;
};

}  // namespace draftlab::bf16
