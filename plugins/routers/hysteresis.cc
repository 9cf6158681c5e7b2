// Two thresholds, so that decoding does not flicker between verified and unverified steps (S2D2,
// Algorithm 4). Once on, the router stays on until the score falls below `off`; once off, it stays
// off until the score reaches `on`. It has one state a sequence, which no new block resets.
//
// The paper does not say in which state it begins. Its code begins off, and turns on above `on`
// where the paper says at `on`.
#include <array>
#include <string_view>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "core/parts/router.h"
#include "plugins/routers/verification_score.h"

namespace draftlab {
namespace {

// Where a sequence begins.
enum class Initial { off, on };
constexpr std::array<std::string_view, 2> words(Initial) { return {"off", "on"}; }

class Hysteresis final : public Router {
 public:
  struct Options {
    VerificationScore score;
    double on = 0, off = -1;
    Initial initial = Initial::off;
    bool strict = false;
    void declare(OptionSet& set) {
      score.declare(set);
      set.add("on", &on).in(-1e6, 1e6).help(
          "tau_on: verification is turned on by a score of at least this.");
      set.add("off", &off).in(-1e6, 1e6).help("tau_off: it is turned off by a score below this.");
      set.add("initial", &initial).help("The state in which a sequence begins.");
      set.add("strict", &strict)
          .help("Turned on only by a score above `on`, as in the authors' code.");
    }
  };
  explicit Hysteresis(const Options& options)
      : options_(options), on_(options.initial == Initial::on) {
    if (options_.off > options_.on) throw ConfigError("off must not be above on");
  }
  bool reads_expected() const override { return true; }

  Route decide(const StepView& step) const override {
    const double score = options_.score.of(step);
    return {.verify = after(score), .score = score};
  }
  // The state follows what was decided, not what was done: exploration or a shadow may have
  // overridden the decision.
  void observe(const Canvas&, const Route& route, const Verdict&) override {
    on_ = after(route.score);
  }
  std::string state() const override { return on_ ? "on" : "off"; }

 private:
  bool after(double score) const {
    if (on_) return !(score < options_.off);
    return options_.strict ? score > options_.on : score >= options_.on;
  }
  Options options_;
  bool on_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(router, hysteresis) {
  registries.routers.add<draftlab::Hysteresis>("hysteresis",
                                               "verify from a score of `on` until one below `off`");
}
