// Metrics of what became of drafts: the ratio of two sums over a sample's steps.
#pragma once

#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {

// `above` and `below` read a number of AcceptanceSums.
template <class Above, class Below>
Measured of_sums(const Samples& samples, Above above, Below below) {
  std::vector<double> first, second;
  for (const AcceptanceSums& sums : samples.acceptance()) {
    first.push_back(static_cast<double>(above(sums)));
    second.push_back(static_cast<double>(below(sums)));
  }
  return Measured::ratio_of(std::move(first), std::move(second));
}

}  // namespace draftlab
