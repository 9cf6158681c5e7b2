#include "core/parts/estimator.h"

#include "core/prob/accepted_prefix.h"

namespace draftlab {

double TokenEstimator::expected(const StepView& step) const {
  const Eigen::ArrayXd accept = alpha(step);
  return expected_accepted({accept.data(), static_cast<std::size_t>(accept.size())});
}

}  // namespace draftlab
