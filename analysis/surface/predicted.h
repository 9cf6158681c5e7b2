// What the steps of a trace would take on a cost surface, as metrics.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/metrics/metric.h"
#include "analysis/surface/cost_surface.h"

namespace draftlab {

// The fields are flags of the commands that predict.
struct SurfaceRequest {
  std::string file = {};  // Empty: nothing is predicted.
  std::vector<std::int64_t> batches = {1, 8, 64};

  void declare(OptionSet& set);
};

// The metrics of a registry, and predicted_B for each batch B: milliseconds that a generated token
// takes on the surface where B copies of the sample are decoded at once, prefill and engine
// included. The first of the names is that of the smallest batch.
//
// A step takes the target's forwards and positions, as the trace counted them, and the drafts of
// the section that the arm's drafter has. DataError: there is no such section, though the drafter
// asks a model of its own; or forwards have no positions, as in imported traces. A drafter that
// asks the target alone is charged its forwards.
struct PredictedMetrics {
  MetricRegistry known;
  std::vector<std::string> names;
  std::string source;  // Whose numbers they are.

  // The sentence that stands below what shows them.
  std::string note() const;
};
// Without a file, the registry alone. UsageError: batches without a file.
PredictedMetrics predicted_metrics(const SurfaceRequest& request, const MetricRegistry& known);

}  // namespace draftlab
