#include "core/parts/estimator.h"

#include <cmath>

#include "core/base/error.h"
#include "core/prob/accepted_prefix.h"

namespace draftlab {

double TokenEstimator::expected(const StepView& step) const {
  const Eigen::ArrayXd accept = alpha(step);
  if (accept.size() != step.drafts())
    throw Fault("an estimator gives {} probabilities for {} drafts", accept.size(), step.drafts());
  for (Eigen::Index i = 0; i < accept.size(); ++i) {
    // Nothing can be expected of a draft whose distribution nobody read.
    const bool unknown = std::isnan(accept[i]) && std::isnan(step.entropy[i]);
    if (!unknown && !(accept[i] >= 0 && accept[i] <= 1))
      throw Fault("an estimator expects a draft to pass with probability {}", accept[i]);
  }
  return expected_accepted({accept.data(), static_cast<std::size_t>(accept.size())});
}

}  // namespace draftlab
