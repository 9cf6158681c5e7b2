// Numbers that training draws or schedules, whatever it trains. This file needs no torch.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace draftlab {

// A source of independent uniforms in [0, 1), one a call.
using Uniforms = std::function<double()>;

// Returns n numbers in [0, 1), one in each stratum [i/n, (i+1)/n), so that a batch covers all mask
// rates evenly.
std::vector<double> low_discrepancy(double u, int n);

// The learning rate warms up linearly over `warmup` steps to `peak`, then decays linearly to
// `floor` * peak at `steps`. Steps count from 0.
struct RateSchedule {
  double peak = 1e-3, floor = 0;
  std::int64_t warmup = 0, steps = 1;
  double rate(std::int64_t step) const;
};

}  // namespace draftlab
