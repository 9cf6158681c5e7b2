// The loss that MAR's diffusion head is trained on (Li et al., 2024, Eq. 1; Nichol and Dhariwal,
// 2021): the head predicts what was done to a token.
#pragma once

#include <ATen/core/Tensor.h>

#include "plugins/models/mar/diffusion_head_torch.h"
#include "plugins/models/mar/diffusion_schedule.h"

namespace draftlab {

struct DiffusionLoss {
  const DiffusionHead& head;
  // The schedule of training, with all steps.
  const DiffusionSchedule& schedule;
  Prediction prediction = Prediction::v;
  Variance variance = Variance::beta;
  bool bf16 = false;

  // Takes tokens x0 [n, D] at conditions z [n, d], each noised `times` times: timesteps are [n,
  // times] int64, and noise is [n, times, D]. Returns the mean square error of what is predicted,
  // [n, times]; with a learned variance it also has the variational bound in bits a dimension, to
  // which the mean is a constant.
  at::Tensor operator()(const at::Tensor& x0, const at::Tensor& z, const at::Tensor& timesteps,
                        const at::Tensor& noise) const;
};

}  // namespace draftlab
