#include "plugins/verifiers/block_walk.h"

#include <algorithm>

#include "core/base/error.h"
#include "plugins/verifiers/paths.h"

namespace draftlab {
namespace {

struct Walk {
  const Paths& paths;
  const BlockRule& rule;
  bool bonus;
  const Step& step = paths.step;
  Verdict verdict{.commits = {}, .edits = {}, .carry = {}, .judged = paths.unjudged()};
  // Where the tests begin, and the last node that was accepted.
  int start = kRoot, at = kRoot, unseen_commits = 0;

  // Returns whether a node is accepted, or one below it, and commits what then follows the
  // accepted path. Given the drafts up to the node, this happens with probability `weight`.
  bool accepted(int node, double weight) {
    if (paths.below(node).empty()) return takes(node, weight) && finish_leaf(node);
    const bool from_front = rule.from_front();
    const Distribution law = step.drawn(paths.raw(node));
    Left left{law, weight};
    for (const int draft : paths.below(node)) {
      const Token token = paths.proposal.nodes[draft].token;
      const double p = left.target.probability(token), q = paths.claimed(draft);
      const double its = rule.of_draft(left.weight, p, q);
      verdict.judged[draft] = {p, q, std::min(its, 1.0), false, false, {}, law};
      if (from_front && !takes(node, without(draft, left).weight)) return false;
      if (accepted(draft, its)) return true;
      left = without(draft, left);
      if (left.weight <= 0) return false;
    }
    if (!from_front && !takes(node, left.weight)) return false;
    finish(node);
    const std::int32_t position = paths.position(node);
    verdict.commits.push_back(
        {position, step.chance.draw(left.target, step.site(position, Purpose::residual)),
         Source::resampled});
    unseen_commits = 1;
    verdict.why = Stop::wrong_token;
    return true;
  }

  // What a node may still commit behind it, and the probability with which it is accepted then.
  struct Left {
    Distribution target;
    double weight = 1;
  };

  // What is left of a node once its next draft is rejected: max(weight p - q, 0).
  Left without(int draft, const Left& before) const {
    const Distribution* const drawn_from = paths.drawn_from(draft);
    const auto beyond = [&](double weight) -> Eigen::ArrayXd {
      Eigen::ArrayXd rest = weight * before.target.probabilities();
      if (drawn_from)
        rest -= drawn_from->probabilities();
      else
        rest[paths.proposal.nodes[draft].token] -= 1;
      return rest.max(0.0);
    };
    const Eigen::ArrayXd rest = beyond(before.weight);
    const double mass = rest.sum();
    Left left{before.target, 1};
    if (before.weight < 1) left.weight = rule.of_rest(before.weight, mass);
    const Eigen::ArrayXd drawn = beyond(rule.in_residual(before.weight));
    if (drawn.sum() > 0) left.target = Distribution(drawn);
    return left;
  }

  // The start is accepted whatever becomes of its drafts.
  bool takes(int node, double weight) const {
    return node == start ||
           step.chance.below(std::min(weight, 1.0),
                             step.site(paths.proposal.nodes[node].position, Purpose::accept,
                                       static_cast<std::uint32_t>(node)));
  }

  bool finish_leaf(int node) {
    finish(node);
    verdict.why = paths.room(node) ? Stop::complete : step.window.boundary;
    if (bonus && paths.commit_bonus(node, verdict)) unseen_commits = 1;
    return true;
  }

  // Commits the tested path to a node.
  void finish(int node) {
    at = node;
    std::vector<int> path;
    for (; node != start; node = paths.proposal.nodes[node].parent) path.push_back(node);
    for (auto draft = path.rbegin(); draft != path.rend(); ++draft) {
      paths.accept(*draft, verdict);
      verdict.judged[*draft].accepted = true;
    }
  }

  // Drafts count as reached where their parent was accepted and they were looked at; what was
  // looked at beyond that is told as a shadow tells it.
  void tell() {
    for (std::size_t i = 0; i < verdict.judged.size(); ++i) {
      Judged& judged = verdict.judged[i];
      const int parent = paths.proposal.nodes[i].parent;
      const bool follows = parent == start || (parent != kRoot && verdict.judged[parent].accepted);
      judged.reached = judged.reached || (follows && !std::isnan(judged.accept));
    }
    while (!verdict.judged.empty() && std::isnan(verdict.judged.back().accept))
      verdict.judged.pop_back();
  }
};

}  // namespace

void BlockVerifier::begin(const Blocks&, const DecodeOptions& decode) {
  if (decode.noise != Noise::own)
    throw ConfigError(
        "block verification judges a draft by those behind it, so what they were drawn by may not "
        "be read again in the next step; decode.noise must be own");
}

Asking<Verdict> BlockVerifier::judge(const Step& step, const Proposal& proposal,
                                     const Acceptance&) const {
  Paths paths(step, proposal, bonus_);
  co_await paths.ask();
  Walk walk{paths, *rule_, bonus_};
  walk.start = paths.accept_exact(walk.verdict);
  walk.accepted(walk.start, 1);
  walk.tell();
  paths.carry(walk.at, walk.unseen_commits, walk.verdict);
  co_return std::move(walk.verdict);
}

}  // namespace draftlab
