// The seam of routers: a router decides whether a step is worth a verification.
#pragma once

#include "core/parts/part.h"
#include "core/parts/step_view.h"

namespace draftlab {

class Router : public Part {
 public:
  // Whether it reads StepView::expected; a config that then names no estimator is refused.
  virtual bool reads_expected() const { return false; }
  // Whether any step may be verified. Where none is, the verifier is never asked, and need not fit
  // the model.
  virtual bool may_verify() const { return true; }
  virtual Route decide(const StepView& step) const = 0;
};

}  // namespace draftlab
