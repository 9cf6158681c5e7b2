// A draft is accepted with a uniform random probability: this is the baseline of S2D2's Table 4.
// The numbers are a fixed function of sequence, step and position, so the estimator stays a
// function of what it sees, and uses up no random number of the decode.
#include "core/config/plugin.h"
#include "core/parts/estimator.h"
#include "core/prob/chance.h"

namespace draftlab {
namespace {

class Random final : public TokenEstimator {
 public:
  Eigen::ArrayXd alpha(const StepView& step) const override {
    constexpr std::uint64_t kSeed = 0;
    Eigen::ArrayXd alpha(step.drafts());
    for (Eigen::Index i = 0; i < alpha.size(); ++i) {
      alpha[i] = SampledChance::uniform(
          kSeed, {step.sequence, step.span.first, Purpose::route,
                  static_cast<std::uint32_t>(step.step), static_cast<std::uint32_t>(i + 1)});
    }
    return alpha;
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(estimator, random) {
  registries.estimators.add<draftlab::Random>("random",
                                              "a draft passes with a uniform random probability");
}
