// Makes drafts that are accepted with a given probability alpha. It looks at the target's
// distribution p, and draws from b p plus the rest on p's least probable token, which overlaps with
// p by exactly alpha. So the cost of a method is measured apart from the quality of its drafts.
// Looking at p is no forward of the method and counts as aux.
#include <string>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "core/parts/drafter.h"

namespace draftlab {
namespace {

class Synthetic final : public Drafter {
 public:
  struct Options {
    double alpha = 0.8;
    void declare(OptionSet& set) {
      set.add("alpha", &alpha)
          .in(0, 1)
          .help(
              "Probability with which a draft is accepted by the ratio test, whatever came before; "
              "at least the least probability of the target.");
    }
  };
  explicit Synthetic(const Options& options) : options_(options) {}
  std::vector<Form> asks() const override { return {Form::committed, Form::chain}; }

  Asking<Proposal> propose(const Step& step) const override {
    const auto& window = step.window.positions;
    const auto count = step.most_drafts();
    Proposal proposal;
    for (std::size_t i = 0; i < count; ++i) {
      const int before = static_cast<int>(i) - 1;
      Question question{.kind = Kind::aux,
                        .view = View::causal,
                        .nodes = proposal.nodes,
                        .asks = {{before, {window[i]}}}};
      const Answer answer = co_await step.ask(std::move(question));
      const Distribution drawn =
          overlapping(step.drawn(answer.at(before, window[i])).probabilities());
      proposal.nodes.push_back(
          {before, window[i], step.chance.draw(drawn, step.site(window[i], Purpose::draft))});
      proposal.drawn_from.push_back(drawn);
    }
    co_return proposal;
  }

 private:
  // Finds b such that sum min(p, q) = b (1 - p_least) + p_least = alpha.
  Distribution overlapping(const Eigen::ArrayXd& p) const {
    Eigen::Index least = 0;
    const double smallest = p.minCoeff(&least);
    if (options_.alpha < smallest)
      throw ConfigError(
          "drafter.synthetic.alpha = {:f} is below the least probability of the target, {:f}",
          options_.alpha, smallest);
    const double share = smallest < 1 ? (options_.alpha - smallest) / (1 - smallest) : 1;
    Eigen::ArrayXd q = share * p;
    q[least] += 1 - share;
    return Distribution(std::move(q));
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, synthetic) {
  registries.drafters.add<draftlab::Synthetic>(
      "synthetic",
      "drafts that the ratio test accepts with probability alpha: cost apart from draft quality; "
      "lossless");
}
