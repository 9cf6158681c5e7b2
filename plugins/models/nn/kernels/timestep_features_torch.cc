#include "plugins/models/nn/kernels/timestep_features_torch.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>

#include <cmath>

namespace draftlab {

at::Tensor timestep_features(const at::Tensor& timesteps) {
  constexpr std::int64_t half = kTimestepFeatures / 2;
  const at::Tensor frequencies = at::arange(half, at::TensorOptions(at::kDouble))
                                     .mul(-std::log(10000.0) / static_cast<double>(half))
                                     .exp();
  const at::Tensor angles = timesteps.to(at::kDouble).unsqueeze(-1) * frequencies;
  return at::cat({angles.cos(), angles.sin()}, -1).to(at::kFloat);
}

}  // namespace draftlab
