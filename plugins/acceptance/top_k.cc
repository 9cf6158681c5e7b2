// Accepts a draft that is among the target's k most probable tokens (blockwise parallel decoding,
// Sec. 5.1).
#include "core/config/plugin.h"
#include "plugins/acceptance/greedy.h"

namespace draftlab {
namespace {

class TopK final : public GreedyAcceptance {
 public:
  struct Options : GreedyOptions {
    std::int64_t k = 2;
    void declare(OptionSet& set) {
      set.add("k", &k).in(1, 1e6).help(
          "Number of most probable tokens that are accepted; 1 is exact-match.");
      GreedyOptions::declare(set);
    }
  };
  explicit TopK(const Options& options) : GreedyAcceptance(options), k_(options.k) {}

 private:
  // Among equals the lowest id comes first, as it does for an argmax.
  bool accepts(const Trial& trial) const override {
    const Eigen::ArrayXd& p = trial.raw.probabilities();
    const double own = p[trial.token];
    const auto better = (p > own).count() + (p.head(trial.token) == own).count();
    return better < k_;
  }
  std::int64_t k_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(acceptance, top_k) {
  registries.acceptance.add<draftlab::TopK>(
      "top-k", "accept any of the target's k most probable tokens (BPD); not lossless");
}
