// Products of bf16 with sums in f32, for processors with AVX-512 BF16.
#pragma once

#include <cstdint>
#include <vector>

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
// Returns how many rows are tiled: of more than 32, groups of sixteen are tiled whole.
constexpr std::int64_t tiled_count(std::int64_t rows) {
  return rows > 32 ? (rows + 15) / 16 * 16 : rows;
}
// Writes some rows of x [rows, in] into `tiles`; those past its last are zeros.
void tile_rows(FloatRows x, std::int64_t in, IndexRange some, char* tiles);

// So many rows, as tiles.
struct TiledRows {
  const char* tiles = nullptr;
  std::int64_t count = 0;
};

// Who multiplies: matrix tiles (AMX), dot products of pairs of inputs, or, once both numbers are
// widened, multiplications and additions of f32.
enum class Bf16Way : std::uint8_t { tiles, pairs, widened };
// Returns the ways of this processor, the fastest first, by what it is and not by a clock: they
// round otherwise.
const std::vector<Bf16Way>& bf16_ways();

// Computes the outputs of some pairs of panels of y [rows, out]. A row's result is, bit for bit,
// what it is without the others.
void multiply_tiles(const PackedView& linear, TiledRows x, float* y, IndexRange pairs,
                    Bf16Way way = bf16_ways().front());

}  // namespace draftlab
