// A draft is accepted with probability exp(-beta H~), where H~ = H / ln V is in [0, 1] (S2D2, Sec.
// 4.3).
#include <cmath>

#include "core/config/plugin.h"
#include "core/parts/estimator.h"

namespace draftlab {
namespace {

class Entropy final : public TokenEstimator {
 public:
  struct Options {
    double beta = 1;
    std::int64_t width = 0;
    void declare(OptionSet& set) {
      set.add("beta", &beta)
          .in(0, 1e6)
          .help("How fast acceptance falls with entropy; 0 expects every draft to pass.");
      set.add("width", &width)
          .in(0, 1e9)
          .help(
              "V of the normalised entropy; 0 for the model's vocabulary (as wide as its logits).");
    }
  };
  explicit Entropy(const Options& options) : options_(options) {}

  Eigen::ArrayXd alpha(const StepView& step) const override {
    const double width = static_cast<double>(options_.width > 0 ? options_.width : step.vocabulary);
    const double scale = -options_.beta / std::log(width);
    // The C library's exponential function: Eigen's differs in the last bit between processors.
    return step.entropy.head(step.drafts()).unaryExpr([scale](double entropy) {
      return std::exp(scale * entropy);
    });
  }

 private:
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(estimator, entropy) {
  registries.estimators.add<draftlab::Entropy>(
      "entropy", "a draft passes with probability exp(-beta H / ln V)");
}
