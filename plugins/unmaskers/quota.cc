#include "plugins/unmaskers/quota.h"

#include <algorithm>

namespace draftlab {

void QuotaUnmasker::begin(const Blocks& blocks, const DecodeOptions& decode) {
  blocks_ = blocks;
  steps_ = decode.steps;
}

std::vector<QuotaUnmasker::Draft> QuotaUnmasker::drafts(const Step& step, const Proposal& proposal,
                                                        const Verdict& committed) const {
  std::vector<Draft> drafts;
  for (std::size_t i = 0; i < proposal.nodes.size(); ++i) {
    const Node& node = proposal.nodes[i];
    if (!step.window.holds(node.position)) continue;
    if (std::any_of(committed.commits.begin(), committed.commits.end(),
                    [&](const Commit& commit) { return commit.position == node.position; }))
      continue;
    Draft draft{.position = node.position, .node = &node};
    const auto& read = proposal.raw.empty() ? proposal.drawn_from : proposal.raw;
    if (!read.empty() && !read[i].empty()) {
      draft.confidence = read[i].probability(node.token), draft.peak = read[i].max();
      draft.margin = read[i].margin(), draft.entropy = read[i].entropy();
      draft.read = &read[i];
    }
    drafts.push_back(draft);
  }
  std::sort(drafts.begin(), drafts.end(), [](const Draft& a, const Draft& b) {
    return a.confidence != b.confidence ? a.confidence > b.confidence : a.position < b.position;
  });
  return drafts;
}

// The quota is B div S tokens, and one more in the first B mod S steps of the block; it is never
// zero.
int QuotaUnmasker::quota(const Step& step, std::vector<Draft>&) const {
  if (steps_ == 0) return 1;
  const std::int32_t position = step.window.positions.front();
  const std::int64_t size = blocks_.end(position, step.canvas.length()) - blocks_.first(position);
  return static_cast<int>(std::max<std::int64_t>(1, size / steps_ + (made(step) < size % steps_)));
}

Verdict QuotaUnmasker::choose(const Step& step, const Proposal& proposal) const {
  Verdict verdict{.commits = {}, .edits = {}, .why = Stop::unverified, .carry = {}, .judged = {}};
  std::vector<Draft> left = drafts(step, proposal, verdict);
  const int certain = sure(step, left), owed = quota(step, left);
  const int chosen = take(step, left, certain, owed);
  for (int i = 0; i < chosen; ++i)
    verdict.commits.push_back(commit_of(*left[i].node, Source::threshold));
  if (takes_back()) verdict.taken_back = taken_back(step, proposal, verdict.commits);
  return verdict;
}

int QuotaUnmasker::take(const Step& step, std::vector<Draft>& drafts, int certain, int owed) const {
  const int count = static_cast<int>(drafts.size());
  if (certain >= owed) return std::min(count, certain);
  std::stable_partition(
      drafts.begin() + std::min(count, certain), drafts.end(),
      [&](const Draft& draft) { return blocks_.index(draft.position) == step.window.block; });
  return std::min(count, owed);
}

std::vector<Commit> QuotaUnmasker::tentative(const Step& step) const {
  std::vector<Commit> tokens;
  if (step.window.positions.empty()) return tokens;
  const std::int32_t at = step.window.positions.front();
  for (std::int32_t i = blocks_.first(at); i < blocks_.end(at, step.canvas.length()); ++i)
    if (step.canvas.tentative(i)) tokens.push_back({i, step.canvas.token(i), Source::taken_back});
  return tokens;
}

std::vector<double> QuotaUnmasker::confidences(const Proposal& proposal,
                                               const std::vector<Commit>& commits) {
  const auto& read = proposal.raw.empty() ? proposal.drawn_from : proposal.raw;
  std::vector<double> values(commits.size(), kNotMeasured);
  for (std::size_t c = 0; c < commits.size(); ++c)
    for (std::size_t i = 0; i < read.size(); ++i)
      if (proposal.nodes[i].position == commits[c].position && !read[i].empty())
        values[c] = read[i].probability(commits[c].token);
  return values;
}

// Drafts that are left meet the step's quota. If anything more is committed at all, all drafts that
// are sure enough are.
Verdict QuotaUnmasker::top_up(const Step& step, const Proposal& proposal, Verdict verdict) const {
  if (verdict.why == Stop::unverified) return verdict;
  std::vector<Draft> left = drafts(step, proposal, verdict);
  const int certain = sure(step, left),
            owed = quota(step, left) - static_cast<int>(verdict.commits.size());
  if (owed <= 0) return verdict;
  const int chosen = take(step, left, certain, owed);
  for (int i = 0; i < chosen; ++i)
    verdict.commits.push_back(commit_of(*left[i].node, Source::fallback));
  return verdict;
}

int QuotaUnmasker::preview(const Step& step, const Proposal& proposal) const {
  std::vector<Draft> all = drafts(step, proposal, {});
  return sure(step, all);
}

void QuotaUnmasker::observe(const Canvas& canvas, const Route&, const Verdict& verdict) {
  std::int32_t position = verdict.commits.empty() ? 0 : verdict.commits.front().position;
  // Nothing was owed, or the block has no masks and could only be edited.
  if (verdict.commits.empty()) {
    while (position < canvas.length() && !canvas.masked(position) && !canvas.tentative(position))
      ++position;
    const std::int32_t end =
        position < canvas.length() ? blocks_.end(position, canvas.length()) : position;
    std::int32_t mask = position;
    while (mask < end && !canvas.masked(mask)) ++mask;
    if (mask == end) return;
  }
  const int block = blocks_.index(position);
  step_ = block == block_ ? step_ + 1 : 1;
  block_ = block;
}

std::string QuotaUnmasker::state() const { return steps_ == 0 ? "" : counted(); }

}  // namespace draftlab
