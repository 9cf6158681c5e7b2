// A step as its trace recorded it, and the view that routers and estimators had of it.
#pragma once

#include <functional>
#include <vector>

#include "analysis/frame/frame.h"
#include "core/parts/step_view.h"

namespace draftlab {

struct LoggedStep {
  // The row of the frame's samples.
  std::int64_t sample = 0;
  // The number of the step in its sample.
  int number = 0;
  // `view.expected` is what the run's own estimator said.
  StepView view;
  // Whether the trace says what the unmasker would have committed (view.preview). A file before
  // version 1.7 does not.
  bool preview_known = false;
  int drafted = 0, exact = 0, committed = 0;
  // `undecided` says that there was something to route.
  bool verified = false, undecided = false;
  bool routed = false;
  double propensity = 1, forwards = 0;
  // The a_i of the span, NaN where one is not known.
  std::vector<double> accept;
  // The realised K; -1 when nothing was judged.
  int prefix = -1;
  // What attached estimators expected, in the order of Frame::estimators().
  std::vector<double> stored;

  // Says whether parts can be asked about it: its drafts were recorded.
  bool has_view() const { return view.length > 0; }
  int span() const { return static_cast<int>(accept.size()); }
  // Says whether every a_i is known.
  bool known() const;
  // Returns C, which counts the replacement and no bonus token.
  int tokens() const { return prefix < span() ? prefix + 1 : prefix; }
};

// Visits every step, sample by sample, in order. A step of which no drafts were recorded has no
// view. Throws DataError when the traces recorded no drafts at all.
void each_step(const Frame& frame, int vocabulary,
               const std::function<void(const LoggedStep&)>& visit);

}  // namespace draftlab
