#include "core/loop/record.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/prob/transport.h"

namespace draftlab {
namespace {

const Distribution* seen_by(const Proposal& proposal, std::size_t draft) {
  const std::vector<Distribution>& known =
      proposal.raw.empty() ? proposal.drawn_from : proposal.raw;
  return known.empty() || known[draft].empty() ? nullptr : &known[draft];
}

// Puts the limit of each node that was judged on the first of its drafts, which is judged first.
void limit(const Proposal& proposal, const Verdict& verdict, StepRow& row) {
  std::map<int, std::vector<std::size_t>> siblings;
  for (std::size_t i = 0; i < proposal.nodes.size(); ++i)
    siblings[proposal.nodes[i].parent].push_back(i);
  for (const auto& [parent, drafts] : siblings) {
    if (drafts.front() >= verdict.judged.size()) continue;
    const Distribution& law = verdict.judged[drafts.front()].law;
    if (law.empty()) continue;
    std::vector<Distribution> drawn_from;
    for (const std::size_t i : drafts)
      drawn_from.push_back(proposal.drawn_from.empty()
                               ? Distribution::point(proposal.nodes[i].token, law.size())
                               : proposal.drawn_from[i]);
    row.drafts[drafts.front()].limit = transport_limit(law, drawn_from);
  }
}

// The row of draft `i`, which `depth` drafts precede on its path.
DraftRow draft_row(const MadeStep& made, std::size_t i, int depth, std::int64_t top_k) {
  const Proposal& proposal = made.proposal;
  const Node& node = proposal.nodes[i];
  const auto at = static_cast<Eigen::Index>(i);
  DraftRow draft;
  draft.position = node.position;
  draft.depth = depth;
  draft.token = node.token;
  if (!proposal.drawn_from.empty())
    draft.q = proposal.drawn_from[i].probability(node.token);
  else if (proposal.trajectories.empty())
    draft.q = 1;
  draft.confidence = made.numbers.confidence()[at];
  draft.margin = made.numbers.margin()[at];
  draft.entropy = made.numbers.entropy()[at];
  draft.renyi2 = made.numbers.renyi2()[at];
  if (const Distribution* const seen = seen_by(proposal, i); seen && top_k > 0) {
    for (const Token token : seen->best(static_cast<int>(top_k)))
      draft.top.emplace_back(token, seen->probability(token));
  }
  if (i >= made.verdict.judged.size()) return draft;
  const Judged& judged = made.verdict.judged[i];
  draft.p = judged.target;
  draft.accept = judged.accept;
  draft.log_p = judged.vector.log_target;
  draft.log_q = judged.vector.log_drawn;
  draft.proposals = judged.vector.proposals;
  draft.capped = judged.vector.capped;
  draft.accepted = judged.reached ? judged.accepted : -1;
  return draft;
}

// Appends the row of a token that was written; what the drafts say of it stands in `row` already.
void write_token(const Commit& commit, StepRow& row) {
  TokenRow token;
  token.position = commit.position;
  token.token = commit.token;
  token.value = commit.value;
  token.rank = static_cast<std::int32_t>(row.tokens.size());
  token.source = static_cast<std::int32_t>(commit.source);
  row.accepted += commit.source == Source::accepted;
  for (const DraftRow& draft : row.drafts) {
    if (draft.position != commit.position || draft.token != commit.token) continue;
    if (commit.source == Source::accepted || commit.source == Source::threshold)
      token.p = draft.p, token.q = draft.q;
    token.confidence = draft.confidence;
    token.entropy = draft.entropy;
    token.margin = draft.margin;
    break;
  }
  row.tokens.push_back(std::move(token));
}

}  // namespace

DraftNumbers::DraftNumbers(const Proposal& proposal)
    : numbers_(decltype(numbers_)::Constant(static_cast<Eigen::Index>(proposal.nodes.size()), 7,
                                            kNotMeasured)),
      vectors_(!proposal.trajectories.empty()) {
  for (Eigen::Index i = 0; i < numbers_.rows(); ++i) {
    const Distribution* const seen = seen_by(proposal, static_cast<std::size_t>(i));
    if (seen)
      numbers_.row(i).head<4>() << seen->probability(proposal.nodes[i].token), seen->margin(),
          seen->entropy(), seen->renyi2();
    if (!vectors_) continue;
    const TrajectoryNumbers shown = numbers_of(proposal.trajectories[static_cast<std::size_t>(i)]);
    numbers_.row(i).tail<3>() << shown.spread, shown.surprise, shown.deviation;
  }
}

void record(const MadeStep& made, const Recording& wanted, StepRow& row) {
  const std::vector<Node>& nodes = made.proposal.nodes;
  const Verdict& verdict = made.verdict;
  row.block = made.window.block;
  // A tree judges drafts in any order, so it may judge more than the span.
  row.span = std::max(made.window.span, static_cast<int>(verdict.judged.size()));
  row.drafted = static_cast<std::int32_t>(nodes.size());
  row.exact = made.proposal.exact;
  row.verified = made.route.verify;
  row.score = std::clamp(made.route.score, kLowestScore, kHighestScore);
  row.propensity = made.route.propensity;
  row.committed = static_cast<std::int32_t>(verdict.commits.size());
  row.stop = static_cast<std::int32_t>(verdict.why);

  std::vector<int> depth(nodes.size(), 0);
  row.drafts.reserve(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    depth[i] = nodes[i].parent == kRoot ? 0 : depth[nodes[i].parent] + 1;
    row.drafts.push_back(draft_row(made, i, depth[i], wanted.top_k));
  }
  if (wanted.limits) limit(made.proposal, verdict, row);
  row.tokens.reserve(verdict.edits.size() + verdict.commits.size() + verdict.taken_back.size());
  for (const auto* written : {&verdict.edits, &verdict.commits, &verdict.taken_back})
    for (const Commit& commit : *written) write_token(commit, row);
}

}  // namespace draftlab
