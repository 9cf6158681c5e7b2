// A draft is accepted if the two most probable tokens of its distribution are far enough apart
// (S2D2, Sec. 4.3). The paper says that the margin is at least the threshold, and its code that it
// is above the threshold.
#include "core/config/plugin.h"
#include "core/parts/estimator.h"

namespace draftlab {
namespace {

class HardMargin final : public TokenEstimator {
 public:
  struct Options {
    double threshold = 0.05;
    bool strict = false;
    void declare(OptionSet& set) {
      set.add("threshold", &threshold)
          .in(0, 1)
          .help("tau_margin: drafts of at least this margin pass.");
      set.add("strict", &strict)
          .help("Only a margin above the threshold passes, as in the authors' code.");
    }
  };
  explicit HardMargin(const Options& options) : options_(options) {}

  Eigen::ArrayXd alpha(const StepView& step) const override {
    const auto margin = step.margin.head(step.drafts());
    if (options_.strict) return (margin > options_.threshold).cast<double>();
    return (margin >= options_.threshold).cast<double>();
  }

 private:
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(estimator, hard_margin) {
  registries.estimators.add<draftlab::HardMargin>(
      "hard-margin", "a draft passes if top-1 less top-2 reaches `threshold`");
}
