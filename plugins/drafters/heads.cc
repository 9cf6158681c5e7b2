// Prediction heads draft the next k tokens at once, head i the i-th (blockwise parallel decoding,
// Stern et al., 2018). Scoring and proposal are combined (their Sec. 4): the verification asks the
// heads at every node it might stop at, so its answer there is the next step's proposal, and only
// the first proposal costs a forward of its own. Head 1 is the target.

#include "core/config/plugin.h"
#include "core/parts/drafter.h"

namespace draftlab {
namespace {

class Heads final : public Drafter {
 public:
  struct Options {
    bool combined = true, shortcut = true;
    void declare(OptionSet& set) {
      set.add("combined", &combined)
          .help(
              "Propose from the verification's answer; false: ask the heads anew, two forwards an "
              "iteration.");
      set.add("shortcut", &shortcut)
          .help(
              "Take head 1's token as the target's own draw: it is never tested, and a lone last "
              "token needs no verification.");
    }
  };
  explicit Heads(const Options& options) : options_(options) {}
  std::vector<Form> asks() const override { return {Form::committed}; }

  Asking<Proposal> propose(const Step& step) const override {
    const auto& window = step.window.positions;
    const auto count = step.most_drafts();
    Answer answer;
    int node = kRoot, unseen_commits = 0;
    if (options_.combined && step.carry &&
        step.carry->answer.find(step.carry->node, window.front())) {
      answer = step.carry->answer;
      node = step.carry->node;
      // After a replacement only heads 2 to k are left, which did not see it.
      unseen_commits = step.carry->unseen_commits;
    } else {
      Question question{.kind = Kind::draft,
                        .view = View::causal,
                        .nodes = {},
                        .asks = {{kRoot, {window.begin(), window.begin() + count}}}};
      answer = co_await step.ask(std::move(question));
    }

    Proposal proposal;
    proposal.exact = options_.shortcut && unseen_commits == 0 ? 1 : 0;
    proposal.lookahead = options_.combined ? static_cast<int>(step.decode.draft_length) : 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Distribution* const raw = answer.find(node, window[i]);
      if (!raw) break;
      const Distribution drawn = step.drawn(*raw);
      proposal.nodes.push_back({static_cast<int>(i) - 1, window[i],
                                step.chance.draw(drawn, step.site(window[i], Purpose::draft))});
      proposal.drawn_from.push_back(drawn);
      proposal.raw.push_back(*raw);
    }
    co_return proposal;
  }

 private:
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(drafter, heads) {
  registries.drafters.add<draftlab::Heads>("heads",
                                           "the model's prediction heads draft k tokens in one "
                                           "forward (blockwise parallel decoding); lossless");
}
