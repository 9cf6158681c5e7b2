// A step as its trace recorded it, and the view that routers and estimators had of it.
#pragma once

#include <functional>
#include <vector>

#include "analysis/frame.h"
#include "core/parts/step_view.h"

namespace draftlab {

struct LoggedStep {
  std::int64_t sample = 0;  // row of the frame's samples
  int number = 0;           // of the step in its sample
  StepView view;            // `expected` is what the run's own estimator said
  int drafted = 0, exact = 0, committed = 0;
  bool verified = false, undecided = false;  // undecided: there was something to route
  bool routed = false;
  double propensity = 1, forwards = 0;
  std::vector<double> accept;  // a_i of the span, NaN where it is not known
  int prefix = -1;             // realised K; -1: nothing was judged
  std::vector<double>
      stored;  // what attached estimators expected, in the order of Frame::estimators()

  int span() const { return static_cast<int>(accept.size()); }
  bool known() const;  // every a_i
  int tokens() const {
    return prefix < span() ? prefix + 1 : prefix;
  }  // C: with the replacement, no bonus token
};

// Visits every step with drafts, sample by sample, in order. DataError when the traces recorded no
// drafts.
void each_step(const Frame& frame, int vocabulary,
               const std::function<void(const LoggedStep&)>& visit);

}  // namespace draftlab
