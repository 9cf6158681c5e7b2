// Verifies when the score reaches a threshold (S2D2, Algorithm 4).
#include "core/config/plugin.h"
#include "core/parts/router.h"
#include "plugins/routers/verification_score.h"

namespace draftlab {
namespace {

class ScoreThreshold final : public Router {
 public:
  struct Options {
    VerificationScore score;
    double threshold = 0;
    void declare(OptionSet& set) {
      score.declare(set);
      set.add("threshold", &threshold)
          .in(-1e6, 1e6)
          .help("tau_score: verify when the score is at least this.");
    }
  };
  explicit ScoreThreshold(const Options& options) : options_(options) {}
  bool reads_expected() const override { return true; }

  Route decide(const StepView& step) const override {
    const double score = options_.score.of(step);
    return {.verify = score >= options_.threshold, .score = score};
  }

 private:
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(router, score) {
  registries.routers.add<draftlab::ScoreThreshold>(
      "score", "verify when expected prefix less cost reaches `threshold`");
}
