// A drafter: it proposes tokens for the next positions. This one asks the model for the first of
// them, and guesses that the others hold the token that is most frequent on the canvas.
#include <algorithm>

#include "core/config/plugin.h"

namespace {

using draftlab::Distribution;
using draftlab::Token;

class MostFrequent final : public draftlab::Drafter {
 public:
  // The forms of question that this drafter asks. A model that cannot answer one of them is refused
  // before anything is decoded.
  std::vector<draftlab::Form> asks() const override { return {draftlab::Form::committed}; }

  draftlab::Asking<draftlab::Proposal> propose(const draftlab::Step& step) const override {
    const std::vector<std::int32_t>& window = step.window.positions;
    const std::int32_t first = window.front();

    // The coroutine stops here until the model has answered, together with the questions of the
    // other sequences of a batch.
    draftlab::Question question;
    question.kind = draftlab::Kind::draft;
    question.asks = {{draftlab::kRoot, {first}}};
    const draftlab::Answer answer = co_await step.ask(std::move(question));

    // `raw` is the model's answer at temperature 1; `drawn` makes of it what is drawn from, after
    // temperature, top-k and top-p.
    const Distribution& raw = answer.at(draftlab::kRoot, first);
    const Distribution drawn = step.drawn(raw);
    draftlab::Proposal proposal;
    proposal.nodes.push_back({draftlab::kRoot, first,
                              step.chance.draw(drawn, step.site(first, draftlab::Purpose::draft))});
    proposal.drawn_from.push_back(drawn);
    proposal.raw.push_back(raw);
    proposal.exact = 1;  // The first draft is the target's own draw and needs no test.

    // Every guess says honestly what it was drawn from: a point mass.
    const Token guess = most_frequent(step);
    const auto count = std::min<std::size_t>(window.size(), step.decode.draft_length);
    for (std::size_t i = 1; i < count; ++i) {
      proposal.nodes.push_back({static_cast<int>(i) - 1, window[i], guess});
      proposal.drawn_from.push_back(Distribution::point(guess, step.vocabulary));
      proposal.raw.push_back(proposal.drawn_from.back());
    }
    co_return proposal;
  }

 private:
  // The lowest id among equals. A masked position has no token.
  static Token most_frequent(const draftlab::Step& step) {
    std::vector<int> times(static_cast<std::size_t>(step.vocabulary), 0);
    for (const Token token : step.canvas.tokens())
      if (token != draftlab::kNoToken) ++times[token];
    return static_cast<Token>(std::max_element(times.begin(), times.end()) - times.begin());
  }
};

}  // namespace

DRAFTLAB_SHARED_PLUGIN() {
  registries.drafters.add<MostFrequent>("most-frequent",
                                        "one draw of the target, then the most frequent token");
}
