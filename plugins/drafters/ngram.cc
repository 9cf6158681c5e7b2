// Drafts from the bigrams of what is visible (ASSD, Appendix E.4): from a token's successors, as
// counted on the canvas. This costs no forward and counts as aux. After a token with no visible
// successor the draft comes from all visible tokens; a block that begins at position 0 has no left
// neighbour, and the target drafts it.

#include "core/config/plugin.h"
#include "core/parts/drafter.h"

namespace draftlab {
namespace {

class Ngram final : public Drafter {
 public:
  std::vector<Form> asks() const override { return {Form::committed}; }

  Asking<Proposal> propose(const Step& step) const override {
    const auto& window = step.window.positions;
    const auto count = step.most_drafts();
    Proposal proposal;
    if (window.front() == 0) {
      Question question{.kind = Kind::draft,
                        .view = View::causal,
                        .nodes = {},
                        .asks = {{kRoot, {window.begin(), window.begin() + count}}}};
      const Answer answer = co_await step.ask(std::move(question));
      for (std::size_t i = 0; i < count; ++i) {
        proposal.raw.push_back(answer.at(kRoot, window[i]));
        add(step, window[i], step.drawn(proposal.raw.back()), proposal);
      }
      proposal.exact = 1;
      co_return proposal;
    }
    step.aux();
    for (std::size_t i = 0; i < count; ++i) {
      Token left = step.canvas.token(window[i] - 1);
      if (left == kNoToken && i > 0 && window[i - 1] == window[i] - 1)
        left = proposal.nodes.back().token;
      add(step, window[i], successors(step, left), proposal);
    }
    co_return proposal;
  }

 private:
  static void add(const Step& step, std::int32_t position, const Distribution& drawn,
                  Proposal& proposal) {
    const int parent = proposal.nodes.empty() ? kRoot : static_cast<int>(proposal.nodes.size()) - 1;
    proposal.nodes.push_back(
        {parent, position, step.chance.draw(drawn, step.site(position, Purpose::draft))});
    proposal.drawn_from.push_back(drawn);
  }

  // The distribution of visible tokens after `left`, by count, or of all visible tokens where there
  // is no such token.
  static Distribution successors(const Step& step, Token left) {
    Eigen::ArrayXd after = Eigen::ArrayXd::Zero(step.vocabulary), visible = after;
    bool seen = false;
    for (std::int32_t i = 0; i < step.canvas.length(); ++i) {
      const Token token = step.canvas.token(i);
      if (token == kNoToken) continue;
      visible[token] += 1;
      if (left == kNoToken || i == 0 || step.canvas.token(i - 1) != left) continue;
      after[token] += 1;
      seen = true;
    }
    return Distribution(seen ? std::move(after) : std::move(visible));
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, ngram) {
  registries.drafters.add<draftlab::Ngram>(
      "ngram", "bigrams of the visible tokens draft at no forward (ASSD, Appendix E.4); lossless");
}
