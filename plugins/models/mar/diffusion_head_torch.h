// MAR's diffusion head (Li et al., 2024; models/diffloss.py's SimpleMLPAdaLN): a small residual
// network over one vector token, its layers modulated by the time step and by the condition z that
// the backbone gives the token's position. Weights, and the forward in plain operations,
// differentiable; diffusion_head_rows_torch.h computes it row by row.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/models/checkpoint/weight_maker_torch.h"

namespace draftlab {

inline constexpr double kHeadNormEpsilon = 1e-6;

struct DiffusionHeadBlock {
  LayerNorm norm;
  Linear up, down;    // [W, W]
  Linear modulation;  // [3 W, W]: shift, scale, gate
};

struct DiffusionHead {
  std::int64_t width = 0;    // W
  Linear time_in, time_out;  // [W, 256], [W, W]
  Linear condition, input;   // [W, d], [W, D]
  std::vector<DiffusionHeadBlock> blocks;
  Linear output;  // [D or 2 D, W]: what is predicted, and with a learned variance its share
  Linear output_modulation;  // [2 W, W]: shift, scale

  DiffusionHead() = default;
  DiffusionHead(const WeightMaker& make, const std::string& prefix, std::int64_t dimension,
                std::int64_t outputs, std::int64_t condition_width, std::int64_t width,
                std::int64_t depth);

  // Original timesteps [n], int64: [n, W].
  at::Tensor time(const at::Tensor& timesteps, bool bf16 = false) const;
  // States x [n, D], with `time` and condition(z) added up in y [n, W]: [n, outputs].
  at::Tensor forward(const at::Tensor& x, const at::Tensor& y, bool bf16 = false) const;
};

// [cosines, sines] of timesteps [n] at 128 frequencies from 1 down to 1e-4: [n, 256] f32.
at::Tensor timestep_features(const at::Tensor& timesteps);

}  // namespace draftlab
