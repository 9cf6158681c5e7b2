// A draft is accepted with probability sum_v p(v)^2, the exponential of the negative Renyi-2
// entropy. It is the probability that two independent draws from the drafter agree (S2D2, Table 4).
#include "core/config/plugin.h"
#include "core/parts/estimator.h"

namespace draftlab {
namespace {

class Renyi2 final : public TokenEstimator {
 public:
  Eigen::ArrayXd alpha(const StepView& step) const override {
    return step.renyi2.head(step.drafts());
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(estimator, renyi2) {
  registries.estimators.add<draftlab::Renyi2>(
      "renyi2", "a draft passes with the sum of squared probabilities");
}
