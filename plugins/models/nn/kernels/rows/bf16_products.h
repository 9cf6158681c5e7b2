// Products of bf16 with sums in f32, computed by the processor's matrix tiles (AMX) where it has
// them, else by its dot products of pairs (AVX-512 BF16).
#pragma once

#include <cstdint>

#include "plugins/models/nn/kernels/rows/row_kernels.h"

namespace draftlab {

bool has_matrix_tiles();
// Says whether the processor has either.
bool has_bf16_products();

constexpr std::int64_t kTileInputs = 32;

// Returns the bytes of `rows` rows of x as tiles: [16 rows][32 inputs] after [16 rows][32 inputs],
// in whole pairs of such strips.
constexpr std::int64_t tiled_bytes(std::int64_t rows, std::int64_t in) {
  return (rows + 31) / 32 * 2 * ((in + kTileInputs - 1) / kTileInputs) * 1024;
}
// Writes rows [begin, end) of x [rows, in] into `tiles`; those past `rows` are zeros.
void tile_rows(const float* x, std::int64_t rows, std::int64_t in, std::int64_t begin,
               std::int64_t end, char* tiles);

// Computes the outputs of the pairs of panels [begin, end) of y [rows, out]. For more than 32 rows,
// groups of sixteen must be tiled whole. A row's result is, bit for bit, what it is without the
// others.
void multiply_tiles(const PackedView& linear, const char* tiles, std::int64_t rows, float* y,
                    std::int64_t begin, std::int64_t end);

}  // namespace draftlab
