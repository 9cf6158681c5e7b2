// The features of a diffusion's timestep, or of its noise level, that networks read (DiT, MAR,
// SEDD).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace draftlab {

inline constexpr std::int64_t kTimestepFeatures = 256;

// Returns [cosines, sines] of timesteps [n] at 128 frequencies from 1 down to 1e-4, as [n, 256]
// f32.
at::Tensor timestep_features(const at::Tensor& timesteps);

}  // namespace draftlab
