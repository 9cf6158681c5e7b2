// Metrics of sets: what each image adds to the sums that the set's statistic is computed from.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {

// Computes the addends of every sample from its scores of that prefix and a number.
Measured set_addends(const Samples& samples, std::string_view prefix,
                     std::vector<double> (*addends)(std::span<const double> scores));

}  // namespace draftlab
