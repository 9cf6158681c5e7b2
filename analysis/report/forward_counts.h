// How many forwards of which width each group of arms ran, from which follows what its tokens would
// cost on another machine.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/report/grouping.h"
#include "analysis/report/machine_speed.h"

namespace draftlab {

struct ForwardCounts {
  // The number of the target's forwards by the token positions that one computed.
  std::map<double, double> forwards;
  double tokens = 0;
  ModelWeights weights;  // Those of the target.
  // Seconds of decoding, NaN where they were not measured, and nanoseconds inside the two models.
  double seconds = 0, target_ns = 0, draft_ns = 0;

  // Seconds a token on a machine: each forward takes the longer of reading the weights and of two
  // operations a parameter and position. The draft model takes the share of the target's time that
  // it took where the trace was made.
  double token_seconds(const MachineSpeed& machine) const;
};

// A group each. Samples that do not count are left out.
std::vector<ForwardCounts> forward_counts(const Frame& frame, const Grouping& grouping);

// The machine that would have taken the time that the forwards of a trace took: a forward of p
// positions took a + b p (least squares over all groups), so that a is the reading of the weights
// and b the work of a position. Zeros where the forwards do not show both.
MachineSpeed fitted_machine(const Frame& frame, const std::vector<ForwardCounts>& groups);

}  // namespace draftlab
