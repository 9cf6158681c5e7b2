// y = x W^T + b for a handful of rows or a few hundred, on whatever the machine multiplies fastest with.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "plugins/models/row_kernels_torch.h"

namespace draftlab {

// f32: as PackedLinear. bf16: where the processor has matrix tiles (AMX) both factors are bf16 and sums f32; elsewhere as
// PackedLinear, whose x stays f32. Either way a row's result is, bit for bit, what it is without the other rows.
class RowLinear {
 public:
  RowLinear() = default;
  RowLinear(const at::Tensor& weight, const at::Tensor& bias, bool bf16);  // [out, in]; bias [out] or undefined
  void apply(const float* x, std::int64_t rows, float* y) const;
  // The weights of one output, [in], as they are kept: a tied embedding is read from here.
  void weights_of(std::int64_t output, float* weights) const;

  static bool has_tiles();

 private:
  void apply_tiles(const float* x, std::int64_t rows, float* y) const;
  PackedLinear packed_;
  at::Tensor tiles_;  // [panel][chunk of 32 inputs][pair of inputs][16 outputs][2]; undefined: packed_ is used
  std::vector<float> bias_;
  std::int64_t in_ = 0, out_ = 0;
};

}  // namespace draftlab
