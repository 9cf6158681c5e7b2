// A draft is accepted with a probability that is linear in the margin between the two most probable
// tokens of its distribution, up to 1 (soft_clipped_linear_margin of S2D2's code; not in the
// paper).
#include "core/config/plugin.h"
#include "core/parts/estimator.h"

namespace draftlab {
namespace {

class ClippedMargin final : public TokenEstimator {
 public:
  struct Options {
    double slope = 1;
    void declare(OptionSet& set) {
      set.add("slope", &slope).in(0, 1e6).help("The margin is multiplied by this.");
    }
  };
  explicit ClippedMargin(const Options& options) : options_(options) {}

  Eigen::ArrayXd alpha(const StepView& step) const override {
    return (options_.slope * step.margin.head(step.drafts())).min(1.0);
  }

 private:
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(estimator, clipped_margin) {
  registries.estimators.add<draftlab::ClippedMargin>(
      "clipped-margin", "top-1 less top-2, times `slope`, at most 1 (S2D2's code)");
}
