// Numbers that training draws or schedules, whatever it trains. Torch-free.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace draftlab {

// Independent uniforms in [0, 1), one a call.
using Uniforms = std::function<double()>;

// n numbers in [0, 1), one in each stratum [i/n, (i+1)/n): a batch covers all mask rates evenly.
std::vector<double> low_discrepancy(double u, int n);

// Linear warm-up over `warmup` steps to `peak`, then linear decay to `floor` * peak at `steps`.
// Steps count from 0.
struct RateSchedule {
  double peak = 1e-3, floor = 0;
  std::int64_t warmup = 0, steps = 1;
  double rate(std::int64_t step) const;
};

}  // namespace draftlab
