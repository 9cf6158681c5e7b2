// The noise level that a network is told (SEDD). Absorbing noise of level sigma masks each position
// with probability 1 - exp(-sigma). A sampler knows the level by its clock; a question knows a
// canvas alone. Therefore the level is the most likely one for a canvas of which so many positions
// are masked, given ones among them, but at most the level at which log-linear noise ends, where
// all but a thousandth is masked.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace draftlab {

inline float noise_level(std::int64_t masked, std::int64_t positions) {
  constexpr double kLeft = 1e-3;
  const double share = static_cast<double>(masked) / static_cast<double>(positions);
  return static_cast<float>(-std::log(std::max(1 - share, kLeft)));
}

}  // namespace draftlab
