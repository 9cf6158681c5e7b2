// Verifies when the score reaches a threshold (S2D2, Algorithm 4), or where it does not: the drafts
// that are trusted least.
#include <array>
#include <string_view>

#include "core/config/plugin.h"
#include "core/parts/router.h"
#include "plugins/routers/verification_score.h"

namespace draftlab {
namespace {

enum class Side { at_least, below };
constexpr std::array<std::string_view, 2> words(Side) { return {"at-least", "below"}; }

class ScoreThreshold final : public Router {
 public:
  struct Options {
    VerificationScore score;
    double threshold = 0;
    Side verify = Side::at_least;
    void declare(OptionSet& set) {
      score.declare(set);
      set.add("threshold", &threshold)
          .in(-1e6, 1e6)
          .help("tau_score, which the score is compared with.");
      set.add("verify", &verify)
          .help(
              "Which steps are verified: those whose score is at least the threshold, as in S2D2, "
              "or those below it, where drafts that are committed unverified would do most harm.");
    }
  };
  explicit ScoreThreshold(const Options& options) : options_(options) {}
  bool reads_expected() const override { return true; }

  Route decide(const StepView& step) const override {
    const double score = options_.score.of(step);
    const bool reached = score >= options_.threshold;
    return {.verify = reached == (options_.verify == Side::at_least), .score = score};
  }

 private:
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(router, score) {
  registries.routers.add<draftlab::ScoreThreshold>(
      "score", "verify when expected prefix less cost reaches `threshold`, or where it does not");
}
