#include "core/loop/record.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/prob/transport.h"
#include "core/trace/schema.h"

namespace draftlab {
namespace {

const Distribution* seen_by(const Proposal& proposal, std::size_t draft) {
  const std::vector<Distribution>& known =
      proposal.raw.empty() ? proposal.drawn_from : proposal.raw;
  return known.empty() || known[draft].empty() ? nullptr : &known[draft];
}

// Where scores may lie in a trace, which has no infinities.
const ColumnInfo& score_column() {
  const std::vector<ColumnInfo>& columns = info(Table::step).columns;
  static const ColumnInfo& score = *std::find_if(
      columns.begin(), columns.end(), [](const ColumnInfo& c) { return c.name == "step_score"; });
  return score;
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

}  // namespace

DraftNumbers::DraftNumbers(const Proposal& proposal)
    : numbers_(Eigen::ArrayX4d::Constant(static_cast<Eigen::Index>(proposal.nodes.size()), 4,
                                         kNotMeasured)) {
  for (Eigen::Index i = 0; i < numbers_.rows(); ++i) {
    const Distribution* const seen = seen_by(proposal, static_cast<std::size_t>(i));
    if (seen)
      numbers_.row(i) << seen->probability(proposal.nodes[i].token), seen->margin(),
          seen->entropy(), seen->renyi2();
  }
}

void record(const Window& window, const Proposal& proposal, const DraftNumbers& numbers,
            const Route& route, const Verdict& verdict, const TraceOptions& options, StepRow& row) {
  const int top_k = static_cast<int>(options.top_k);
  row.block = window.block;
  // A tree judges drafts in any order, so it may judge more than the span.
  row.span = std::max(window.span, static_cast<int>(verdict.judged.size()));
  row.drafted = static_cast<std::int32_t>(proposal.nodes.size());
  row.exact = proposal.exact;
  row.verified = route.verify;
  row.score = std::clamp(route.score, score_column().low, score_column().high);
  row.propensity = route.propensity;
  row.committed = static_cast<std::int32_t>(verdict.commits.size());
  row.stop = static_cast<std::int32_t>(verdict.why);

  std::vector<int> depth(proposal.nodes.size(), 0);
  row.drafts.reserve(proposal.nodes.size());
  for (std::size_t i = 0; i < proposal.nodes.size(); ++i) {
    const Node& node = proposal.nodes[i];
    const auto at = static_cast<Eigen::Index>(i);
    DraftRow draft;
    draft.position = node.position;
    draft.depth = depth[i] = node.parent == kRoot ? 0 : depth[node.parent] + 1;
    draft.token = node.token;
    if (!proposal.drawn_from.empty())
      draft.q = proposal.drawn_from[i].probability(node.token);
    else if (proposal.trajectories.empty())
      draft.q = 1;
    draft.confidence = numbers.confidence()[at];
    draft.margin = numbers.margin()[at];
    draft.entropy = numbers.entropy()[at];
    draft.renyi2 = numbers.renyi2()[at];
    if (const Distribution* const seen = seen_by(proposal, i); seen && top_k > 0) {
      for (const Token token : seen->best(top_k))
        draft.top.emplace_back(token, seen->probability(token));
    }
    if (i < verdict.judged.size()) {
      draft.p = verdict.judged[i].target;
      draft.accept = verdict.judged[i].accept;
      draft.log_p = verdict.judged[i].vector.log_target;
      draft.log_q = verdict.judged[i].vector.log_drawn;
      draft.proposals = verdict.judged[i].vector.proposals;
      draft.capped = verdict.judged[i].vector.capped;
      draft.accepted = verdict.judged[i].reached ? verdict.judged[i].accepted : -1;
    }
    row.drafts.push_back(std::move(draft));
  }
  if (options.limits) limit(proposal, verdict, row);
  const auto write = [&](const Commit& commit) {
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
  };
  row.tokens.reserve(verdict.edits.size() + verdict.commits.size() + verdict.taken_back.size());
  std::for_each(verdict.edits.begin(), verdict.edits.end(), write);
  std::for_each(verdict.commits.begin(), verdict.commits.end(), write);
  std::for_each(verdict.taken_back.begin(), verdict.taken_back.end(), write);
}

}  // namespace draftlab
