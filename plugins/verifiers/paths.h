// Drafts as they stand on paths of the causal view: a tree over the committed state, what is asked
// to judge it in one forward, and what was answered. The verifiers of form `chain` share it.
#pragma once

#include <vector>

#include "core/config/options.h"
#include "core/parts/verifier.h"

namespace draftlab {

// The option of a verifier that can draw a token behind a path that is accepted whole.
struct BonusOption {
  bool bonus = false;
  void declare(OptionSet& set) {
    set.add("bonus", &bonus)
        .help(
            "Ask one position more where drafts are tested, and commit its draw when a whole path "
            "is accepted.");
  }
};

struct Paths {
  const Step& step;
  const Proposal& proposal;
  // For each drafted node: its depth, and its index in the question.
  std::vector<int> depth, sent;
  // The drafts that are asked about and follow the root, then those that follow each node.
  std::vector<std::vector<int>> drafts;
  // Only what is tested is asked, and only the drafts are sent that an asked position sees: exact
  // drafts cost nothing here. What else is wanted, a bonus or the next step's carry, is asked
  // together with a test. Without a test there is nothing to ask.
  Question question{.kind = Kind::verify, .view = View::causal, .nodes = {}, .asks = {}};
  Answer answer;

  // With `bonus`, the position behind each leaf is asked, too; with `whole`, drafts behind the span
  // are asked about as well, up to the window's end.
  Paths(const Step& step, const Proposal& proposal, bool bonus, bool whole = false);

  bool tests() const { return tests_; }
  // Asks the model, if anything is tested, and keeps the answer. Returns whether it did.
  Asking<bool> ask();
  // How many leading drafts of the span need no test.
  int exact() const;
  const std::vector<int>& below(int node) const { return drafts[node + 1]; }
  // The index into the window of the position behind a node, and the position.
  int next(int node) const { return node == kRoot ? 0 : depth[node] + 1; }
  std::int32_t position(int node) const { return step.window.positions[next(node)]; }
  bool room(int node) const { return next(node) < step.window.span; }
  // Drafts of this depth and deeper are not asked about.
  int asked_end() const {
    return whole_ ? static_cast<int>(step.window.positions.size()) : step.window.span;
  }
  // What the model answered behind a node.
  const Distribution& raw(int node) const { return answer.at(sent_as(node), position(node)); }

  const Distribution* drawn_from(int draft) const {
    return proposal.drawn_from.empty() ? nullptr : &proposal.drawn_from[draft];
  }
  double claimed(int draft) const {
    return drawn_from(draft) ? drawn_from(draft)->probability(proposal.nodes[draft].token) : 1.0;
  }
  // Returns an empty account of every draft.
  std::vector<Judged> unjudged() const;
  // Accepts the exact drafts, which stand on one path. Returns the last of them, or the root.
  int accept_exact(Verdict& verdict) const;
  // Commits the accepted draft.
  void accept(int draft, Verdict& verdict) const {
    verdict.commits.push_back(commit_of(proposal.nodes[draft], Source::accepted));
  }
  // Draws the position behind a leaf, if there is room for it and anything was tested. Returns
  // whether it did.
  bool commit_bonus(int leaf, Verdict& verdict) const;
  // Hands the answer, and the nodes that it is about, over to the next step where the proposal
  // looks ahead: the verdict stops at `node`, and `unseen` tokens are committed behind it.
  void carry(int node, int unseen, Verdict& verdict);

 private:
  void make_question(bool bonus);
  int sent_as(int node) const { return node == kRoot ? kRoot : sent[node]; }
  bool tests_ = false, whole_ = false;
};

}  // namespace draftlab
