#include "plugins/models/nn/kernels/placed_linear_torch.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>

#include <algorithm>

#include "plugins/models/nn/kernels/machine_torch.h"

namespace draftlab {

PlacedLinear::PlacedLinear(const at::Tensor& weight, const at::Tensor& bias, Precision precision,
                           std::optional<at::Device> tensors) {
  if (!tensors) {
    rows_ = RowLinear(weight.detach(), bias.detach(), precision);
    return;
  }
  weight_ = weight.detach().to(tensor_options(*tensors, precision));
  bias_ = bias.detach().to(tensor_options(*tensors, precision));
}

void PlacedLinear::apply(const float* x, std::int64_t rows, float* y) const {
  if (!weight_.defined()) return rows_.apply(x, rows, y);
  const at::NoGradGuard no_grad;
  const at::Tensor from = at::empty({rows, weight_.size(1)});
  std::copy_n(x, from.numel(), from.data_ptr<float>());
  const at::Tensor made = at::linear(from.to(weight_.options()), weight_, bias_)
                              .to(at::TensorOptions(at::kFloat).device(at::kCPU))
                              .contiguous();
  std::copy_n(made.data_ptr<float>(), made.numel(), y);
}

}  // namespace draftlab
