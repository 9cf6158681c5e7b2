// Products with weights of eight and four bits (quantised_blocks.h). The rows of x are rounded to
// eight bits, too, block by block. Sums over a block are whole numbers and exact; f32 sums over
// blocks run in the blocks' order, by the same operations in every kernel. So a row's result is,
// bit for bit, the same beside any other rows and on any processor.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/models/nn/kernels/rows/quantised_panels.h"

namespace draftlab {

// One way to multiply, for an instruction set.
struct QuantisedKernel {
  const char* name;
  // Computes the outputs of some panels of y [rows, out].
  void (*multiply)(const PackedView& linear, const QuantisedRows& x, float* y, IndexRange panels);
};
// Returns the kernels that this processor can run, the fastest first. All give the same bits.
const std::vector<QuantisedKernel>& quantised_kernels();

// Does the same by the fastest.
inline void multiply_quantised(const PackedView& linear, const QuantisedRows& x, float* y,
                               IndexRange panels) {
  quantised_kernels().front().multiply(linear, x, y, panels);
}

}  // namespace draftlab
