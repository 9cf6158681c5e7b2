// A draft is accepted with the probability it was given, raised to a power (S2D2, Table 4). This
// reads the drawn token itself: a router that decides by it is lossy even where both its branches
// are exact.
#include "core/config/plugin.h"
#include "core/parts/estimator.h"

namespace draftlab {
namespace {

class Confidence final : public TokenEstimator {
 public:
  struct Options {
    double power = 1;
    void declare(OptionSet& set) {
      set.add("power", &power)
          .in(0, 1e6)
          .help("gamma_conf: exponent of the drafted token's probability.");
    }
  };
  explicit Confidence(const Options& options) : options_(options) {}
  Eigen::ArrayXd alpha(const StepView& step) const override {
    return step.confidence.head(step.drafts()).pow(options_.power);
  }

 private:
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(estimator, confidence) {
  registries.estimators.add<draftlab::Confidence>(
      "confidence", "a draft passes with its own probability to the `power`");
}
