// A verifier: it asks the model what it thinks of the drafts, lets the acceptance rule judge them,
// and says what is committed. This one judges one path of drafts, of at most `most` tokens, in a
// single forward; the first draft that is rejected is replaced and ends the step.
#include <algorithm>

#include "core/config/plugin.h"

namespace {

using draftlab::Distribution;

class ShortChain final : public draftlab::Verifier {
 public:
  struct Options {
    std::int64_t most = 4;
    void declare(draftlab::OptionSet& set) {
      set.add("most", &most).in(1, 4096).help("Drafts that one step judges.");
    }
  };
  explicit ShortChain(const Options& options) : options_(options) {}
  std::vector<draftlab::Form> asks() const override { return {draftlab::Form::chain}; }

  draftlab::Asking<draftlab::Verdict> judge(const draftlab::Step& step,
                                            const draftlab::Proposal& proposal,
                                            const draftlab::Acceptance& rule) const override {
    // Drafts behind the span of the window may not be judged in a chain, and exact drafts are the
    // target's own draws, which need no test.
    const int exact = std::min(proposal.exact, step.window.span);
    const int drafts =
        std::max(exact, std::min({static_cast<int>(proposal.nodes.size()), step.window.span,
                                  static_cast<int>(options_.most)}));

    // The law of every tested draft, given the drafts before it.
    draftlab::Question question;
    question.kind = draftlab::Kind::verify;
    for (int i = 0; i < drafts; ++i) {
      if (i + 1 < drafts) question.nodes.push_back(proposal.nodes[i]);
      if (i >= exact) question.asks.push_back({i - 1, {proposal.nodes[i].position}});
    }
    draftlab::Answer answer;
    if (drafts > exact) answer = co_await step.ask(std::move(question));

    draftlab::Verdict verdict;
    for (int i = 0; i < drafts; ++i) {
      const draftlab::Node& node = proposal.nodes[i];
      const Distribution* const drawn_from =
          proposal.drawn_from.empty() ? nullptr : &proposal.drawn_from[i];
      draftlab::Judged judged;
      judged.drawn = drawn_from ? drawn_from->probability(node.token) : 1;
      judged.target = judged.drawn;
      judged.accept = 1;
      judged.accepted = true;
      if (i >= exact) {
        const Distribution& raw = answer.at(i - 1, node.position);
        const Distribution target = step.drawn(raw);
        const draftlab::Trial trial{node.token, target, drawn_from, i, raw};
        judged.target = target.probability(node.token);
        judged.accept = rule.probability(trial);
        judged.accepted =
            step.chance.below(judged.accept, step.site(node.position, draftlab::Purpose::accept));
        if (!judged.accepted) replace(step, node.position, rule.replacement(trial), verdict);
      }
      verdict.judged.push_back(judged);
      if (!judged.accepted) co_return verdict;
      verdict.commits.push_back(commit_of(node, draftlab::Source::accepted));
    }
    if (drafts == step.window.span) verdict.why = step.window.boundary;
    co_return verdict;
  }

 private:
  // Commits a draw of what the acceptance rule puts in the place of a rejected draft. A rule may
  // put nothing there; the unmasker then sees to it that the step commits something.
  static void replace(const draftlab::Step& step, std::int32_t position,
                      const Distribution& replacement, draftlab::Verdict& verdict) {
    verdict.why = draftlab::Stop::wrong_token;
    if (replacement.empty()) return;
    draftlab::Commit commit;
    commit.position = position;
    commit.token = step.chance.draw(replacement, step.site(position, draftlab::Purpose::residual));
    commit.source = draftlab::Source::resampled;
    verdict.commits.push_back(commit);
  }

  Options options_;
};

}  // namespace

DRAFTLAB_SHARED_PLUGIN() {
  registries.verifiers.add<ShortChain>("short-chain", "one path of at most `most` drafts");
}
