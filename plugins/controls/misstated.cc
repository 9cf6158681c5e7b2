// A control: what another drafter drafts, with a wrong account of what it was drawn from. A drafter
// must say what it drew from, and each claim here is a mistake that was made or printed: siblings
// drawn without replacement that all claim the law of the first; the likeliest tokens, which claim
// to be draws; looked-up tokens, which claim that any token could have come; and the bigrams of Eq.
// 23 of ASSD as printed, which are those of a token's predecessors.
#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "core/parts/drafter.h"

namespace draftlab {
namespace {

enum class Claim { first_sibling, own_answer, uniform, reversed_bigram };
constexpr std::array<std::string_view, 4> words(Claim) {
  return {"first-sibling", "own-answer", "uniform", "reversed-bigram"};
}

class Misstated final : public Drafter {
 public:
  struct Options {
    std::string of = "model";
    Claim claim = Claim::first_sibling;
    void declare(OptionSet& set) {
      set.add("of", &of).help("The drafter that drafts; its options stand in this section.");
      set.add("claim", &claim)
          .help(
              "What every draft is said to be drawn from: the law of its first sibling; the answer "
              "that it was read from; all tokens alike; or the bigrams of Eq. 23 as printed.");
    }
  };
  Misstated(const Options& options, std::unique_ptr<Drafter> inner)
      : options_(options), inner_(std::move(inner)) {
    const std::vector<Form> forms = inner_->asks();
    if (std::count(forms.begin(), forms.end(), Form::reverse) > 0)
      throw ConfigError("drafter.misstated.of = {} drafts vectors, and the claims are about tokens",
                        options.of);
  }

  std::vector<DecodeKey> reads() const override { return inner_->reads(); }
  std::vector<Form> asks() const override { return inner_->asks(); }
  std::vector<Form> asks_draft_model() const override { return inner_->asks_draft_model(); }
  void begin(const Blocks& blocks, const DecodeOptions& decode) override {
    inner_->begin(blocks, decode);
  }
  void observe(const Canvas& canvas, const Route& route, const Verdict& verdict) override {
    inner_->observe(canvas, route, verdict);
  }
  std::string state() const override { return inner_->state(); }

  Asking<Proposal> propose(const Step& step) const override {
    Asking<Proposal> drafting = inner_->propose(step);
    Proposal proposal = co_await drafting;
    std::vector<Distribution> claims;
    for (int i = 0; i < static_cast<int>(proposal.nodes.size()); ++i)
      claims.push_back(i < proposal.exact ? drawn_from(step, proposal, i)
                                          : claimed(step, proposal, i));
    proposal.drawn_from = std::move(claims);
    co_return proposal;
  }

 private:
  static Distribution drawn_from(const Step& step, const Proposal& proposal, int draft) {
    return proposal.drawn_from.empty()
               ? Distribution::point(proposal.nodes[draft].token, step.vocabulary)
               : proposal.drawn_from[draft];
  }

  Distribution claimed(const Step& step, const Proposal& proposal, int draft) const {
    switch (options_.claim) {
      case Claim::uniform: return Distribution::uniform(step.vocabulary);
      case Claim::own_answer: return answer(step, proposal, draft);
      case Claim::reversed_bigram: return reversed_bigram(step, proposal, draft);
      case Claim::first_sibling: break;
    }
    const auto first =
        std::find_if(proposal.nodes.begin(), proposal.nodes.end(),
                     [&](const Node& node) { return node.parent == proposal.nodes[draft].parent; });
    return drawn_from(step, proposal, static_cast<int>(first - proposal.nodes.begin()));
  }

  Distribution answer(const Step& step, const Proposal& proposal, int draft) const {
    if (proposal.raw.empty())
      throw ConfigError(
          "drafter.misstated.claim = own-answer needs a drafter that reads answers, which of = {} "
          "does not",
          options_.of);
    return step.drawn(proposal.raw[draft]);
  }

  // Computes c(a|b) of Eq. 23 for a drafted a and its left neighbour b: the count of bigrams "a b"
  // over the occurrences of b. A small share of what was drawn from is added, so that every drafted
  // token has a probability above zero.
  static Distribution reversed_bigram(const Step& step, const Proposal& proposal, int draft) {
    const std::int32_t position = proposal.nodes[draft].position;
    Token left = position > 0 ? step.canvas.token(position - 1) : kNoToken;
    if (left == kNoToken && draft > 0 && proposal.nodes[draft - 1].position == position - 1)
      left = proposal.nodes[draft - 1].token;
    Eigen::ArrayXd claim = 1e-3 * drawn_from(step, proposal, draft).probabilities();
    for (std::int32_t i = 0; i + 1 < step.canvas.length(); ++i) {
      const Token token = step.canvas.token(i);
      if (left != kNoToken && token != kNoToken && step.canvas.token(i + 1) == left)
        claim[token] += 1;
    }
    return Distribution(std::move(claim));
  }

  Options options_;
  std::unique_ptr<Drafter> inner_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, misstated) {
  registries.drafters.add_around<draftlab::Misstated>(
      "misstated", "a control: another drafter, with a wrong account of what it drew from; lossy");
}
