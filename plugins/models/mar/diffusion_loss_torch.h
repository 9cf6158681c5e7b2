// What MAR's diffusion head is trained on (Li et al., 2024, Eq. 1; Nichol and Dhariwal, 2021):
// telling what was done to a token.
#pragma once

#include <ATen/core/Tensor.h>

#include "plugins/models/mar/diffusion_head_torch.h"
#include "plugins/models/mar/diffusion_schedule.h"

namespace draftlab {

struct DiffusionLoss {
  const DiffusionHead& head;
  const DiffusionSchedule& schedule;  // of training: all steps
  Prediction prediction = Prediction::v;
  Variance variance = Variance::beta;

  // Tokens x0 [n, D] at conditions z [n, d], each noised `times` times: timesteps [n, times] int64,
  // noise [n, times, D]. The mean square error of what is predicted, [n, times]; with a learned
  // variance also the variational bound in bits a dimension, to which the mean is a constant.
  at::Tensor operator()(const at::Tensor& x0, const at::Tensor& z, const at::Tensor& timesteps,
                        const at::Tensor& noise, bool bf16 = false) const;
};

}  // namespace draftlab
