// An acceptance rule: it says how probably a drafted token is kept, and what replaces one that is
// not. This one keeps a share of what the exact ratio test keeps, and replaces the rest so that the
// result has the law of the target all the same.
#include <algorithm>

#include "core/config/plugin.h"

namespace {

class Cautious final : public draftlab::Acceptance {
 public:
  struct Options {
    double keep = 0.5;
    void declare(draftlab::OptionSet& set) {
      set.add("keep", &keep).in(0, 1).help("Share of the ratio test's acceptance; 1: all of it.");
    }
  };
  explicit Cautious(const Options& options) : options_(options) {}

  double probability(const draftlab::Trial& trial) const override {
    // A draft without a distribution is a point mass: its token had the probability 1.
    const double drawn = trial.drawn_from ? trial.drawn_from->probability(trial.token) : 1;
    return options_.keep * std::min(1.0, trial.target.probability(trial.token) / drawn);
  }

  // What the target has and accepted drafts do not give: p - keep * min(p, q).
  draftlab::Distribution replacement(const draftlab::Trial& trial) const override {
    const Eigen::ArrayXd& target = trial.target.probabilities();
    Eigen::ArrayXd rest = target;
    if (trial.drawn_from)
      rest -= options_.keep * target.min(trial.drawn_from->probabilities());
    else
      rest[trial.token] -= options_.keep * target[trial.token];
    rest = rest.max(0);
    return rest.sum() > 0 ? draftlab::Distribution(std::move(rest)) : trial.target;
  }

 private:
  Options options_;
};

}  // namespace

DRAFTLAB_SHARED_PLUGIN() {
  registries.acceptance.add<Cautious>("cautious", "a share of the ratio test, and still exact");
}
