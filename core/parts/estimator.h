// The seam of estimators: an estimator guesses how many drafts will be accepted.
#pragma once

#include <Eigen/Core>

#include "core/parts/part.h"
#include "core/parts/step_view.h"

namespace draftlab {

class Estimator : public Part {
 public:
  // The expected number of accepted drafts of the span, which is at least 0; NaN where nothing can
  // be told, never an infinity. It is asked once in every step, also in those that are not
  // verified, and must depend on `step` and on what was observed alone.
  virtual double expected(const StepView& step) const = 0;
};

// An estimator that guesses, for each draft of the span, how probably it is accepted given that
// those before it were.
class TokenEstimator : public Estimator {
 public:
  // One probability in [0, 1] for each of the step.drafts() drafts; NaN is allowed where the
  // draft's entropy is NaN, for nobody read its law.
  virtual Eigen::ArrayXd alpha(const StepView& step) const = 0;
  // The estimate K-hat of S2D2's Eq. 5.
  double expected(const StepView& step) const final;
};

}  // namespace draftlab
