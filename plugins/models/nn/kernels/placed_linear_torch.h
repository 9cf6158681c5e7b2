// Computes y = x W^T + b where a model computes: by our own kernels, or by a tensor operation on a
// device.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "plugins/models/nn/kernels/row_linear_torch.h"

namespace draftlab {

class PlacedLinear {
 public:
  PlacedLinear() = default;
  // The weight is [out, in]; the bias is [out]. `tensors` is the device of tensor operations;
  // nothing means our own kernels.
  PlacedLinear(const at::Tensor& weight, const at::Tensor& bias, Precision precision,
               std::optional<at::Device> tensors);
  // Multiplies x [rows, in] into y [rows, out], both on the CPU.
  void apply(const float* x, std::int64_t rows, float* y) const;

 private:
  RowLinear rows_;
  // These are undefined where our own kernels compute.
  at::Tensor weight_, bias_;
};

}  // namespace draftlab
