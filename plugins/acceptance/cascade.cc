// Speculative cascades (Narasimhan et al., 2025): what is sampled is neither the target p nor the
// draft model's q, but a law pi that takes q where that seems good enough and defers to p
// elsewhere. A draft is accepted with probability min(1, pi/q) and replaced from max(pi - q, 0),
// which is exact for pi. A rule decides for a position as a whole,
//   chow: defer where max q < 1 - alpha;  diff: where max q < max p - alpha;
//   opt: where max q < max p - alpha TV(p, q);
// or for each token: pi is q on the tokens A that are good enough, and p times q's mass off A,
//   by-draft: A has q >= max q - alpha;  by-target: p >= max p - alpha;
//   by-share: p >= (1 - alpha) max p.
// A bonus would come from p: leave verifier.chain.bonus off.
#include <array>

#include "core/config/plugin.h"
#include "core/parts/acceptance.h"

namespace draftlab {
namespace {

enum class Rule { chow, diff, opt, by_draft, by_target, by_share };
constexpr std::array<std::string_view, 6> words(Rule) {
  return {"chow", "diff", "opt", "by-draft", "by-target", "by-share"};
}

class Cascade final : public Acceptance {
 public:
  struct Options {
    Rule rule = Rule::opt;
    double alpha = 0.5;
    void declare(OptionSet& set) {
      set.add("rule", &rule)
          .help(
              "Which law is sampled. For a position as a whole, the target's where the draft is "
              "unsure (chow) or less sure than the target (diff, opt); or, token by token, the "
              "draft's where that is probable to it (by-draft) or to the target (by-target, "
              "by-share).");
      set.add("alpha", &alpha)
          .in(0, 100)
          .help(
              "How much worse than the target a draft may be; 0 defers where it is worse at all.");
    }
  };
  explicit Cascade(const Options& options) : options_(options) {}

  void begin(const Blocks&, const DecodeOptions& decode) override {
    if (decode.sampling.temperature == 0)
      throw ConfigError(
          "acceptance.cascade compares how sure draft and target are, and at decode.temperature = "
          "0 both are point masses; the temperature must be above 0");
  }

  double probability(const Trial& trial) const override {
    const double q = drawn_from(trial).probability(trial.token);
    return std::min(1.0, sampled(trial).probability(trial.token) / q);
  }
  Distribution replacement(const Trial& trial) const override {
    return residual(sampled(trial), drawn_from(trial));
  }

 private:
  static const Distribution& drawn_from(const Trial& trial) {
    if (!trial.drawn_from)
      throw ConfigError(
          "acceptance.cascade mixes the target with what drafts were drawn from, and this "
          "drafter's are point masses");
    return *trial.drawn_from;
  }

  // The law pi.
  Distribution sampled(const Trial& trial) const {
    const Distribution& target = trial.target;
    const Distribution& draft = drawn_from(trial);
    const Eigen::ArrayXd &p = target.probabilities(), &q = draft.probabilities();
    const auto choose = [&](bool defers) { return defers ? target : draft; };
    const auto mix = [&](const auto& good) {
      const Eigen::ArrayXd in = good.template cast<double>();
      return Distribution(q * in + p * (q * (1 - in)).sum());
    };
    switch (options_.rule) {
      case Rule::chow: return choose(draft.max() < 1 - options_.alpha);
      case Rule::diff: return choose(draft.max() < target.max() - options_.alpha);
      case Rule::opt:
        return choose(draft.max() < target.max() - options_.alpha * (p - q).abs().sum() / 2);
      case Rule::by_draft: return mix(q >= draft.max() - options_.alpha);
      case Rule::by_target: return mix(p >= target.max() - options_.alpha);
      case Rule::by_share: return mix(p >= (1 - options_.alpha) * target.max());
    }
    throw Fault("a rule of cascades that there is not");
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(acceptance, cascade) {
  registries.acceptance.add<draftlab::Cascade>(
      "cascade",
      "sample a law between draft and target, by a deferral rule (speculative cascades); exact for "
      "that law");
}
