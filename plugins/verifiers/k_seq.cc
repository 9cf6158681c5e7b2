// Judges several independent drafts of a position against one scaled target (K-SEQ of SpecTr, Sun
// et al., 2023): each of k drafts is accepted with probability min(1, p / (rho q)), and what is
// left of the target replaces them all. The smallest rho that is exact solves 1 - (1 - b)^k = rho b
// with b = sum min(q, p / rho). Lossless; one draft is judged by the ratio test.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "plugins/verifiers/paths.h"

namespace draftlab {
namespace {

class KSeq final : public Verifier {
 public:
  struct Options : BonusOption {
    double rho = 0;
    void declare(OptionSet& set) {
      BonusOption::declare(set);
      set.add("rho", &rho)
          .in(0, 64)
          .help(
              "Divisor of the target; 0 solves for the smallest that is exact. Others are "
              "exact from there on, and not lossless below.");
    }
  };
  explicit KSeq(const Options& options) : options_(options) {}
  std::vector<Form> asks() const override { return {Form::chain}; }
  bool has_own_rule() const override { return true; }

  Asking<Verdict> judge(const Step& step, const Proposal& proposal,
                        const Acceptance&) const override {
    Paths paths(step, proposal, options_.bonus);
    co_await paths.ask();
    Verdict verdict{.commits = {}, .edits = {}, .carry = {}, .judged = paths.unjudged()};
    int at = paths.accept_exact(verdict), unseen = 0;
    verdict.why = Stop::complete;
    while (!paths.below(at).empty()) {
      if (try_drafts(paths, at, verdict)) continue;
      verdict.why = Stop::wrong_token;
      unseen = 1;
      break;
    }
    if (verdict.why != Stop::wrong_token) {
      if (!paths.room(at)) verdict.why = step.window.boundary;
      unseen = options_.bonus && paths.commit_bonus(at, verdict);
    }
    while (!verdict.judged.empty() && !verdict.judged.back().reached) verdict.judged.pop_back();
    paths.carry(at, unseen, verdict);
    co_return verdict;
  }

 private:
  // Returns whether one of the drafts behind `at` is accepted, and goes there. If none is, what
  // replaces them is committed.
  bool try_drafts(const Paths& paths, int& at, Verdict& verdict) const {
    const Step& step = paths.step;
    const std::int32_t position = paths.position(at);
    const Distribution law = step.drawn(paths.raw(at));
    const Eigen::ArrayXd& p = law.probabilities();
    const std::vector<int>& drafts = paths.below(at);
    const Eigen::ArrayXd q = common_law(paths, drafts, static_cast<int>(p.size()));
    const auto count = static_cast<double>(drafts.size());
    const double rho = options_.rho > 0 ? options_.rho : smallest_rho(p, q, count);
    std::uint32_t attempt = 0;
    for (const int draft : drafts) {
      const Token token = paths.proposal.nodes[draft].token;
      const double chance = p[token] >= rho * q[token] ? 1 : p[token] / (rho * q[token]);
      const bool accepted =
          step.chance.below(chance, step.site(position, Purpose::accept, attempt++));
      verdict.judged[draft] = {p[token], q[token], chance, accepted, true, {}, law};
      if (!accepted) continue;
      paths.accept(draft, verdict);
      at = draft;
      return true;
    }
    const double b = q.min(p / rho).sum();
    const Eigen::ArrayXd left =
        (p - q.min(p / rho) * (b > 0 ? (1 - std::pow(1 - b, count)) / b : 0)).max(0.0);
    const Distribution replacement(left.sum() > 0 ? left : p);
    verdict.commits.push_back(
        {position, step.chance.draw(replacement, step.site(position, Purpose::residual)),
         Source::resampled});
    return false;
  }

  // The law that every draft of a node was drawn from, which must be one.
  static Eigen::ArrayXd common_law(const Paths& paths, const std::vector<int>& drafts, int size) {
    const auto law = [&](int draft) {
      return paths.drawn_from(draft)
                 ? paths.drawn_from(draft)->probabilities()
                 : Distribution::point(paths.proposal.nodes[draft].token, size).probabilities();
    };
    const Eigen::ArrayXd first = law(drafts.front());
    for (const int draft : drafts)
      if ((law(draft) - first).abs().maxCoeff() > 0)
        throw ConfigError(
            "verifier = k-seq judges drafts that were drawn independently from one distribution, "
            "and those of this drafter were not; sample siblings with replacement");
    return first;
  }

  // Finds rho by bisection: below it more is accepted than the target has.
  static double smallest_rho(const Eigen::ArrayXd& p, const Eigen::ArrayXd& q, double count) {
    double low = 1, high = count;
    for (int i = 0; i < 100 && low < high; ++i) {
      const double rho = (low + high) / 2, b = q.min(p / rho).sum();
      (1 - std::pow(1 - b, count) > rho * b ? low : high) = rho;
    }
    return high;
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(verifier, k_seq) {
  registries.verifiers.add<draftlab::KSeq>(
      "k-seq",
      "k independent drafts a node against one scaled target (SpecTr); lossless with rho = 0");
}
