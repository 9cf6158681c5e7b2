// Products for a handful of rows, where reading the weights once is the whole cost. A general matrix product
// copies its weights at every call, which takes several times as long as using them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace draftlab {

// Weights in panels of 16 outputs: [panel][in][16], f32 or bf16; bias padded to whole panels, or none.
struct PackedView {
  std::int64_t in = 0, out = 0;
  const void* panels = nullptr;
  const float* bias = nullptr;
  std::int64_t stride = 0;  // numbers from one panel to the next: 16 times as many inputs as there is room for
};
// y [rows, out] = x [rows, in] times f32 panels, on the calling thread. An output's sum runs over the inputs in their order,
// whatever rows and outputs are computed beside it.
void product(const PackedView& linear, const float* x, std::int64_t rows, float* y);

// y = x W^T + b with W packed once.
class PackedLinear {
 public:
  PackedLinear() = default;
  PackedLinear(const at::Tensor& weight, const at::Tensor& bias, bool bf16);  // [out, in]; bias [out] or undefined
  // x [rows, in] to y [rows, out], in parallel over outputs. Sums are f32 whatever the weights are.
  void apply(const float* x, std::int64_t rows, float* y) const;
  void weights_of(std::int64_t output, float* weights) const;  // [in]

 private:
  at::Tensor panels_, bias_;
  PackedView view_;
  bool bf16_ = false;
};

// out [count] = silu(gate) * up.
void gated(const float* gate, const float* up, std::int64_t count, float* out);

}  // namespace draftlab
