// Accuracy under parallelism (AUP, of d3LLM): one number for how much accuracy a method keeps as it
// decodes more tokens a forward.
#pragma once

#include <span>
#include <string>

#include "analysis/report/report.h"

namespace draftlab {

// A setting of a method: tokens a forward, and accuracy in percent.
struct AupPoint {
  double parallelism = 0, accuracy = 0;
};

// The area under the points in the order of their parallelism, each weighted by
// min(1, exp(-3 (1 - y / best))); before the first of them a rectangle, which is not weighted. Only
// points within 5 of the first one's accuracy count. `best` is the largest accuracy of any method.
// Throws DataError when the last point lost more than that, as the authors' program does.
double aup(std::span<const AupPoint> points, double best);

// A row for each method, which is a value of the first key of --by; its settings are the groups
// that share the value. `accuracy` names a quantity between 0 and 1 of which more is better. Throws
// UsageError for another one, or without --by.
std::string aup_table(const Frame& frame, const ReportRequest& request,
                      const std::string& accuracy);

}  // namespace draftlab
