// Products for a handful of rows, where reading the weights once is the whole cost. A general
// matrix product copies its weights at every call, which takes several times as long as using them.
#pragma once

#include <cstdint>

namespace draftlab {

// How weights stand in panels of 16 outputs:
//   f32, bf16  [panel][input][16 outputs]
//   tiles      [panel][pair of inputs][16 outputs][2], bf16, with inputs padded to 32, which is
//              what bf16_products.h multiplies.
//   q8, q4     whole numbers and scales, which quantised_products.h describes and multiplies.
enum class Layout : std::uint8_t { f32, bf16, tiles, q8, q4 };

struct PackedView {
  Layout layout = Layout::f32;
  std::int64_t in = 0, out = 0;
  const void* panels = nullptr;
  // The bias is padded to whole panels, or null.
  const float* bias = nullptr;
  // How many numbers lie from one panel to the next: 16 times as many as there is room for inputs.
  // In q8 and q4 these are bytes.
  std::int64_t stride = 0;
  // The number of panels.
  std::int64_t count() const { return (out + 15) / 16; }
};

// So many rows of f32, one behind the other.
struct FloatRows {
  const float* first = nullptr;
  std::int64_t count = 0;
};

// Those that one call computes of many: panels, pairs of panels, or rows.
struct IndexRange {
  std::int64_t begin = 0, end = 0;
};

// Computes the outputs of some panels of y [rows, out] = x [rows, in] times f32 or bf16 panels.
// Sums are f32 and run over the inputs in their order, whatever rows and outputs are computed
// beside them.
void multiply_panels(const PackedView& linear, FloatRows x, float* y, IndexRange panels);

// Computes all of y, from any layout but q8 and q4, on the calling thread.
void product(const PackedView& linear, FloatRows x, float* y);

// Prefetches what a product will read soon, as much of it as is worth while.
void fetch(const PackedView& linear);

// Applies GELU by the error function, in place.
void exact_gelu(float* x, std::int64_t count);

// Computes out [count] = silu(gate) * up.
void gated(const float* gate, const float* up, std::int64_t count, float* out);

}  // namespace draftlab
