// MAR's diffusion head (Li et al., 2024; models/diffloss.py's SimpleMLPAdaLN): a small residual
// network over one vector token, whose layers are modulated by the time step and by the condition z
// that the backbone gives the token's position. This file has its weights and the forward in plain
// operations, differentiable; diffusion_head_rows_torch.h computes it row by row.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/models/nn/checkpoint/weight_maker_torch.h"

namespace draftlab {

inline constexpr double kHeadNormEpsilon = 1e-6;

struct DiffusionHeadBlock {
  LayerNorm norm;
  // The shapes are [W, W].
  Linear up, down;
  // The shape is [3 W, W]: shift, scale and gate.
  Linear modulation;
};

struct DiffusionHead {
  // The width W.
  std::int64_t width = 0;
  // The shapes are [W, 256] and [W, W].
  Linear time_in, time_out;
  // The shapes are [W, d] and [W, D].
  Linear condition, input;
  std::vector<DiffusionHeadBlock> blocks;
  // The shape is [D or 2 D, W]: what is predicted and, with a learned variance, its share.
  Linear output;
  // The shape is [2 W, W]: shift and scale.
  Linear output_modulation;

  // The dimension D of a token, the outputs (D or 2 D), the width d of a condition, and the
  // network's own width and depth.
  struct Shape {
    std::int64_t dimension, outputs, condition, width, depth;
  };
  DiffusionHead() = default;
  DiffusionHead(const WeightMaker& make, const std::string& prefix, const Shape& shape);

  // Maps original timesteps [n], int64, to [n, W].
  at::Tensor time(const at::Tensor& timesteps, bool bf16 = false) const;
  // Maps states x [n, D], with `time` and condition(z) added up in y [n, W], to [n, outputs].
  at::Tensor forward(const at::Tensor& x, const at::Tensor& y, bool bf16 = false) const;
};

}  // namespace draftlab
