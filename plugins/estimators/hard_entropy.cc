// A draft is accepted if its normalised entropy H / ln V is below a threshold (S2D2, Table 4).
#include <cmath>

#include "core/config/plugin.h"
#include "core/parts/estimator.h"

namespace draftlab {
namespace {

class HardEntropy final : public TokenEstimator {
 public:
  struct Options {
    double threshold = 0.1;
    std::int64_t width = 0;
    void declare(OptionSet& set) {
      set.add("threshold", &threshold)
          .in(0, 1)
          .help("tau_ent: drafts of lower normalised entropy pass.");
      set.add("width", &width)
          .in(0, 1e9)
          .help(
              "V of the normalised entropy; 0 for the model's vocabulary (as wide as its logits).");
    }
  };
  explicit HardEntropy(const Options& options) : options_(options) {}

  Eigen::ArrayXd alpha(const StepView& step) const override {
    const double width = static_cast<double>(options_.width > 0 ? options_.width : step.vocabulary);
    return (step.entropy.head(step.drafts()) / std::log(width) < options_.threshold).cast<double>();
  }

 private:
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(estimator, hard_entropy) {
  registries.estimators.add<draftlab::HardEntropy>(
      "hard-entropy", "a draft passes if H / ln V is below `threshold`");
}
