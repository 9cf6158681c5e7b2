#include "core/parts/draft_length.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/base/error.h"

namespace draftlab {
namespace {

// Hugging Face's schedule: two drafts more after a step whose drafts were all accepted, else one
// fewer.
constexpr std::int64_t kLonger = 2;
// Draft & Verify: the share of accepted drafts that is aimed at, how fast its mean forgets, and how
// far a step moves the threshold.
constexpr double kGoal = 0.9, kForgets = 0.5, kMove = 0.01, kKeeps = 0.9;
// AdaEDL: an entropy of H nats lets a draft be accepted with at least 1 - sqrt(0.2 H).
constexpr double kEntropyScale = 0.2;
// SmartSpec: how fast the share of accepted drafts forgets, and the two drafts, one of them
// accepted, that it begins with, so that it is never 0 or 1.
constexpr double kRemembers = 0.9, kAcceptedBefore = 1, kTestedBefore = 2;

}  // namespace

DraftLength::DraftLength(const DecodeOptions& options, bool applies)
    : rule_(applies ? options.draft_rule : DraftRule::fixed),
      adapts_(applies && options.draft_adapts),
      longest_(options.draft_length),
      most_(options.draft_length),
      stop_(options.draft_stop),
      draft_cost_(options.draft_cost),
      row_cost_(options.row_cost) {}

bool DraftLength::ends_after(Token token, const Distribution& read) const {
  const bool by_token = rule_ == DraftRule::likely || rule_ == DraftRule::likely_dropped;
  return by_token && read.probability(token) < stop_;
}

bool DraftLength::ends_before(const Distribution& read) const {
  return rule_ == DraftRule::sure && 1 - std::sqrt(kEntropyScale * read.entropy()) < stop_;
}

void DraftLength::cut(Proposal& proposal) const {
  if (!reads() || proposal.exact == static_cast<int>(proposal.nodes.size())) return;
  const std::vector<Distribution>& read = proposal.raw.empty() ? proposal.drawn_from : proposal.raw;
  if (read.empty())
    throw ConfigError(
        "decode.draft_rule = {} reads the distributions of drafts, and this drafter's are point "
        "masses; fixed and matches read none",
        words(rule_)[static_cast<std::size_t>(rule_)]);
  // The place of each node among those that stay; kGone for the others.
  constexpr int kGone = -2;
  std::vector<int> stays(proposal.nodes.size(), kGone);
  std::vector<char> ends(proposal.nodes.size(), 0);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < proposal.nodes.size(); ++i) {
    Node& node = proposal.nodes[i];
    const bool first = node.parent == kRoot || static_cast<int>(i) < proposal.exact;
    const bool unlikely = ends_after(node.token, read[i]);
    ends[i] = unlikely;
    if (!first) {
      if (stays[node.parent] == kGone || ends[node.parent] || ends_before(read[i])) continue;
      if (unlikely && rule_ == DraftRule::likely_dropped) continue;
    }
    if (node.parent != kRoot) node.parent = stays[node.parent];
    stays[i] = static_cast<int>(kept);
    if (kept != i) {
      proposal.nodes[kept] = std::move(node);
      if (!proposal.raw.empty()) proposal.raw[kept] = proposal.raw[i];
      if (!proposal.drawn_from.empty()) proposal.drawn_from[kept] = proposal.drawn_from[i];
    }
    ++kept;
  }
  proposal.nodes.resize(kept);
  if (!proposal.raw.empty()) proposal.raw.resize(kept);
  if (!proposal.drawn_from.empty()) proposal.drawn_from.resize(kept);
}

void DraftLength::observe(const Proposal& proposal, const Verdict& verdict) {
  if (verdict.judged.empty()) return;
  std::int64_t deepest = 0;
  std::vector<std::int64_t> depth;
  for (const Node& node : proposal.nodes) {
    depth.push_back(node.parent == kRoot ? 1 : depth[node.parent] + 1);
    deepest = std::max(deepest, depth.back());
  }
  const std::int64_t accepted =
      std::count_if(verdict.commits.begin(), verdict.commits.end(),
                    [](const Commit& commit) { return commit.source == Source::accepted; });
  if (rule_ == DraftRule::matches)
    most_ = accepted >= deepest ? most_ + kLonger : std::max<std::int64_t>(1, most_ - 1);
  if (rule_ == DraftRule::goodput) {
    // The draft that ended the accepted prefix was tested, too; those behind it were not.
    accepted_ = kRemembers * accepted_ + static_cast<double>(accepted);
    tested_ = kRemembers * tested_ + static_cast<double>(std::min(accepted + 1, deepest));
    most_ = best_length();
  }
  if (!adapts_) return;
  share_ = kForgets * share_ +
           (1 - kForgets) * static_cast<double>(accepted) / static_cast<double>(deepest);
  const double move = share_ < kGoal ? kMove : deepest < longest_ ? -kMove : 0;
  stop_ = std::clamp(kKeeps * stop_ + (1 - kKeeps) * (stop_ + move), 0.0, 1.0);
}

std::int64_t DraftLength::best_length() const {
  const double share = (accepted_ + kAcceptedBefore) / (tested_ + kTestedBefore);
  std::int64_t best = 1;
  double most = 0, survives = 1, tokens = 1;
  for (std::int64_t length = 1; length <= longest_; ++length) {
    survives *= share;
    tokens += survives;
    const double goodput = tokens / (1 + static_cast<double>(length) * (draft_cost_ + row_cost_));
    if (goodput <= most) continue;
    most = goodput;
    best = length;
  }
  return best;
}

std::string DraftLength::state() const {
  if (rule_ == DraftRule::matches) return std::to_string(most_);
  char text[64];
  if (rule_ == DraftRule::goodput)
    std::snprintf(text, sizeof text, "%a/%a", accepted_, tested_);
  else if (adapts_)
    std::snprintf(text, sizeof text, "%a/%a", stop_, share_);
  else
    return "";
  return text;
}

}  // namespace draftlab
