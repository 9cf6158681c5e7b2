// An estimator: it says, from numbers alone, how many of the drafted tokens it expects to be
// accepted. This one takes the margin of a draft (its probability less that of the runner-up, in
// the drafter's own distribution), raised to a power, for the probability that it is accepted.
#include "core/config/plugin.h"

namespace {

class MarginPower final : public draftlab::TokenEstimator {
 public:
  struct Options {
    double power = 0.5;
    void declare(draftlab::OptionSet& set) {
      set.add("power", &power).in(0, 100).help("Exponent of the margin; 0 expects every draft.");
    }
  };
  explicit MarginPower(const Options& options) : options_(options) {}

  // One number in [0, 1] for each draft of the span: the probability that the draft is accepted
  // when all drafts before it were. The base class makes the expected prefix of them.
  Eigen::ArrayXd alpha(const draftlab::StepView& step) const override {
    return step.margin.head(step.drafts()).pow(options_.power);
  }

 private:
  Options options_;
};

}  // namespace

DRAFTLAB_SHARED_PLUGIN() {
  registries.estimators.add<MarginPower>("margin-power",
                                         "a draft passes with its margin to the `power`");
}
