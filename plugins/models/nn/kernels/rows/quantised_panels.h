// The weights and the rows of products in eight and four bits, as quantised_products.h multiplies
// them. A panel holds 16 outputs:
//   q8  [block][16] scales of f16, then [block][c = 0..7][16 outputs][4] bytes, which are inputs
//       4c to 4c + 3 of the block
//   q4  the scales, then [block][c = 0..3][16 outputs][4] bytes, whose low halves are inputs 4c to
//       4c + 3 of the block and whose high halves are inputs 16 + 4c to 19 + 4c, each plus 8
// Missing inputs and outputs are zeros. The scales and the numbers begin at multiples of 64 bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/models/nn/kernels/rows/quantised_blocks.h"
#include "plugins/models/nn/kernels/rows/row_kernels.h"

namespace draftlab {

constexpr bool is_quantised(Layout layout) { return layout == Layout::q8 || layout == Layout::q4; }

constexpr std::int64_t quantised_blocks(std::int64_t in) {
  return (in + kQuantisedBlock - 1) / kQuantisedBlock;
}
// Returns the bytes of the numbers of 16 outputs in one block.
constexpr std::int64_t block_numbers(Layout layout) { return layout == Layout::q8 ? 512 : 256; }
// Returns the bytes of a panel's scales.
constexpr std::int64_t scale_bytes(std::int64_t blocks) { return (blocks * 32 + 63) / 64 * 64; }
constexpr std::int64_t panel_bytes(Layout layout, std::int64_t in) {
  return scale_bytes(quantised_blocks(in)) + quantised_blocks(in) * block_numbers(layout);
}

// Rounds the weights [outputs, in] of up to 16 outputs into a panel.
void pack_panel(Layout layout, FloatRows weights, std::int64_t in, char* panel);
// Copies the weights of one output, [in], as they are kept.
void unpack_output(const PackedView& linear, std::int64_t output, float* weights);

// The rows of x as the products read them: whole numbers of eight bits, and for each block a scale
// and an excess. Weights are multiplied as numbers that are not negative, 128 (q8) or 8 (q4) too
// large; the excess, added to a block's sum, takes that away again. In q4 scales are powers of two:
// processors multiply by them for less, and what it costs is small beside the rounded weights.
class QuantisedRows {
 public:
  // Makes room. What was there is lost.
  void resize(Layout layout, std::int64_t rows, std::int64_t in);
  // Rounds rows [begin, end) of x [rows, in].
  void round(const float* x, std::int64_t begin, std::int64_t end);

  // Where a row's first block stands. The same block of the next row stands behind it, and the next
  // block behind that of all rows: a product reads one block of all rows at a time.
  const char* numbers(std::int64_t row) const { return numbers_.data() + row * kQuantisedBlock; }
  const float* scales(std::int64_t row) const { return scales_.data() + row; }
  const std::int32_t* excess(std::int64_t row) const { return excess_.data() + row; }
  std::int64_t blocks() const { return blocks_; }
  std::int64_t rows() const { return rows_; }

 private:
  // Rounds so many blocks of 32 numbers, which become those from `block` on of a row.
  void round_blocks(FloatRows blocks, std::int64_t row, std::int64_t block);
  std::int64_t rows_ = 0, in_ = 0, blocks_ = 0;
  std::int32_t offset_ = 0;
  bool powers_ = false;
  std::vector<char> numbers_;
  std::vector<float> scales_;
  std::vector<std::int32_t> excess_;
};

}  // namespace draftlab
