// The seam of routers: a router decides whether a step is worth a verification.
#pragma once

#include "core/parts/part.h"
#include "core/parts/step_view.h"

namespace draftlab {

class Router : public Part {
 public:
  // Whether it reads StepView::expected; a config that then names no estimator is refused.
  virtual bool reads_expected() const { return false; }
  // Whether any step may be verified, with the options that the router has. Where none is, the
  // verifier is never asked, and need not fit the model.
  virtual bool may_verify() const { return true; }
  // Decides about a step with at least one draft that is not the target's own draw; of others it
  // is not asked, and does not observe them.
  // Before: `step` has one number a draft in each array, NaN where the drafter gave no law, and
  //   StepView::expected is finite where reads_expected() holds.
  // After: `propensity` is in (0, 1] and `flip` in [0, 1]; `score` may be anything, and is cut for
  //   the record. No random number is drawn: a router that wants its decision reversed now and then
  //   sets `flip`.
  virtual Route decide(const StepView& step) const = 0;
};

}  // namespace draftlab
