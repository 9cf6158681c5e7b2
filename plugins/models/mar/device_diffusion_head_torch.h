// Computes MAR's diffusion head in tensor operations, on any device that libtorch supports, such as
// a GPU.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "plugins/models/mar/diffusion_head_torch.h"

namespace draftlab {

class DeviceDiffusionHead {
 public:
  // The weights of products have the type and device of `options`; norms and sums stay f32.
  DeviceDiffusionHead(DiffusionHead head, std::span<const int> timesteps,
                      const at::TensorOptions& options);
  // Does what DiffusionHeadRows::forward does, but for the bits of a row, which may depend on the
  // rows beside it.
  std::vector<float> forward(const std::vector<float>& x, const std::vector<float>& z,
                             std::span<const int> steps) const;

 private:
  DiffusionHead head_;
  at::TensorOptions options_;
  // The shape is [steps, W].
  at::Tensor time_;
};

}  // namespace draftlab
