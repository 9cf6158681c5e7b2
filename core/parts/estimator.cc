#include "core/parts/estimator.h"

#include "core/base/error.h"
#include "core/prob/accepted_prefix.h"

namespace draftlab {

double TokenEstimator::expected(const StepView& step) const {
  const Eigen::ArrayXd accept = alpha(step);
  if (accept.size() != step.drafts())
    throw Fault("an estimator gives {} probabilities for {} drafts", accept.size(), step.drafts());
  for (const double each : accept)
    if (each < 0 || each > 1)  // NaN: the draft was read by nobody, so nothing is expected.
      throw Fault("an estimator expects a draft to pass with probability {}", each);
  return expected_accepted({accept.data(), static_cast<std::size_t>(accept.size())});
}

}  // namespace draftlab
