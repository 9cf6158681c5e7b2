// Typical acceptance (Medusa, Cai et al., 2024): a draft is good enough where its probability under
// the target exceeds min(epsilon, delta exp(-H)), with H the target's entropy in nats. So the rule
// is strict where the target is sure, and lax where it is not.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/config/plugin.h"
#include "core/parts/acceptance.h"

namespace draftlab {
namespace {

// The token that replaces a rejected draft.
enum class Replacement { greedy, draw };
constexpr std::array<std::string_view, 2> words(Replacement) { return {"greedy", "draw"}; }

class Typical final : public Acceptance {
 public:
  struct Options {
    double epsilon = 0.09, delta = 0.3;
    Replacement replacement = Replacement::greedy;
    void declare(OptionSet& set) {
      set.add("epsilon", &epsilon)
          .in(0, 1)
          .help("Posterior threshold: a token more probable than this is always accepted.");
      set.add("delta", &delta)
          .in(0, 1)
          .help("A token more probable than this share of exp(-entropy) is accepted, too.");
      set.add("replacement", &replacement)
          .help(
              "Token behind the accepted drafts: the target's most probable one, as in Medusa, "
              "or a draw from it.");
    }
  };
  explicit Typical(const Options& options) : options_(options) {}

  double probability(const Trial& trial) const override {
    const double threshold =
        std::min(options_.epsilon, options_.delta * std::exp(-trial.target.entropy()));
    return trial.target.probability(trial.token) > threshold ? 1 : 0;
  }
  Distribution replacement(const Trial& trial) const override {
    return options_.replacement == Replacement::draw
               ? trial.target
               : Distribution::point(trial.target.argmax(), trial.target.size());
  }

 private:
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(acceptance, typical) {
  registries.acceptance.add<draftlab::Typical>(
      "typical",
      "accept what the target finds likely enough for its entropy (Medusa); not lossless above "
      "temperature 0");
}
