// A draft is accepted as probably as earlier drafts of the same sequence were: the mean of the
// probabilities with which those were, of vectors those of their density ratios. No law of the
// present drafts is read, so it tells something where these are vectors (CSpD), and a router that
// decides by it depends on no drawn token of the step. It learns from verified steps alone.
#include <cmath>
#include <cstdio>
#include <vector>

#include "core/config/plugin.h"
#include "core/parts/estimator.h"

namespace draftlab {
namespace {

class Observed final : public TokenEstimator {
 public:
  struct Options {
    double prior = 1, weight = 1, keeps = 0.9;
    bool by_depth = false;
    void declare(OptionSet& set) {
      set.add("prior", &prior)
          .in(0, 1)
          .help(
              "The probability before a draft was judged; where a low one lets nothing be "
              "verified, "
              "nothing is learnt.");
      set.add("weight", &weight).in(1e-6, 1e6).help("How many judged drafts the prior stands for.");
      set.add("keeps", &keeps)
          .in(0, 1)
          .help("What a verified step leaves of the weight of all drafts before it.");
      set.add("by_depth", &by_depth)
          .help("Whether drafts are told apart by how many drafts stand before them.");
    }
  };
  explicit Observed(const Options& options) : options_(options) {}

  Eigen::ArrayXd alpha(const StepView& step) const override {
    Eigen::ArrayXd alpha(step.drafts());
    for (Eigen::Index i = 0; i < alpha.size(); ++i) {
      const auto depth = options_.by_depth ? static_cast<std::size_t>(i) : 0;
      const Mean seen = depth < means_.size() ? means_[depth] : Mean{};
      alpha[i] = (options_.prior * options_.weight + seen.sum) / (options_.weight + seen.count);
    }
    return alpha;
  }

  void observe(const Canvas&, const Route& route, const Verdict& verdict) override {
    if (!route.verify || verdict.judged.empty()) return;
    for (Mean& mean : means_) {
      mean.sum *= options_.keeps;
      mean.count *= options_.keeps;
    }
    std::vector<std::size_t> depths;
    for (std::size_t i = 0; i < verdict.judged.size(); ++i) {
      const int parent = verdict.proposal->nodes[i].parent;
      depths.push_back(parent == kRoot ? 0 : depths[static_cast<std::size_t>(parent)] + 1);
      const Judged& judged = verdict.judged[i];
      // The target's own draws are accepted whatever the drafter is worth.
      if (!judged.reached || static_cast<int>(i) < verdict.proposal->exact) continue;
      const std::size_t depth = options_.by_depth ? depths.back() : 0;
      if (means_.size() <= depth) means_.resize(depth + 1);
      means_[depth].sum += std::isnan(judged.accept) ? judged.accepted : judged.accept;
      means_[depth].count += 1;
    }
  }

  std::string state() const override {
    std::string text;
    for (const Mean& mean : means_) {
      char numbers[64];
      std::snprintf(numbers, sizeof numbers, "%a:%a ", mean.sum, mean.count);
      text += numbers;
    }
    return text;
  }

 private:
  // Of judged drafts, the sum of their probabilities, and how many they are; both forget.
  struct Mean {
    double sum = 0, count = 0;
  };
  Options options_;
  std::vector<Mean> means_;  // By depth, or one of all.
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(estimator, observed) {
  registries.estimators.add<draftlab::Observed>(
      "observed", "a draft passes as often as this sequence's earlier drafts did");
}
