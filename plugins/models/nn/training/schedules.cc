#include "plugins/models/nn/training/schedules.h"

#include <algorithm>

namespace draftlab {

std::vector<double> low_discrepancy(double u, int n) {
  std::vector<double> points(n);
  for (int i = 0; i < n; i++) points[i] = (u + i) / n;
  return points;
}

double RateSchedule::rate(std::int64_t step) const {
  if (step < warmup) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup);
  const double left = static_cast<double>(steps - step) /
                      static_cast<double>(std::max<std::int64_t>(1, steps - warmup));
  return peak * (floor + (1 - floor) * std::clamp(left, 0.0, 1.0));
}

}  // namespace draftlab
