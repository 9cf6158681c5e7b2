// The seam of estimators: an estimator guesses how many drafts will be accepted.
#pragma once

#include <Eigen/Core>

#include "core/parts/part.h"
#include "core/parts/step_view.h"

namespace draftlab {

class Estimator : public Part {
 public:
  // Expected number of accepted drafts of the span.
  virtual double expected(const StepView& step) const = 0;
};

// One that guesses for each draft of the span how probably it is accepted, given that those before
// it were.
class TokenEstimator : public Estimator {
 public:
  virtual Eigen::ArrayXd alpha(const StepView& step) const = 0;  // step.drafts() of them, in [0, 1]
  double expected(const StepView& step) const final;             // K-hat of S2D2's Eq. 5
};

}  // namespace draftlab
