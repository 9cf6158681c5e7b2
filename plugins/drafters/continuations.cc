#include "plugins/drafters/continuations.h"

#include <algorithm>
#include <map>
#include <queue>

namespace draftlab {
namespace {

// A draft that may be added, and the places that go on with it.
struct Candidate {
  Continuations::Draft draft;
  int found = 0;
  std::vector<std::int32_t> places;
  bool operator<(const Candidate& other) const {
    return draft.share != other.draft.share ? draft.share < other.draft.share : found > other.found;
  }
};

}  // namespace

Continuations continuations(std::span<const Token> tokens, std::vector<std::int32_t> places,
                            const ContinuationLimits& limits) {
  Continuations grown;
  std::priority_queue<Candidate> heap;
  int found = 0;
  const auto follow = [&](int parent, int depth, double share,
                          const std::vector<std::int32_t>& from) {
    if (depth >= limits.depth) return;
    std::map<Token, std::vector<std::int32_t>> next;
    for (const std::int32_t place : from) {
      const bool ends = place >= static_cast<std::int32_t>(tokens.size());
      if (!ends && tokens[place] != kNoToken) next[tokens[place]].push_back(place + 1);
    }
    std::vector<Candidate> children;
    for (auto& [token, behind] : next) {
      const double part =
          share * static_cast<double>(behind.size()) / static_cast<double>(from.size());
      children.push_back({{parent, depth, token, part}, 0, std::move(behind)});
    }
    // Tokens come in the order of their ids, so the first among equals is the lowest.
    std::stable_sort(children.begin(), children.end(), [](const Candidate& a, const Candidate& b) {
      return a.draft.share > b.draft.share;
    });
    if (limits.path && children.size() > 1) children.resize(1);
    for (Candidate& child : children) {
      if (child.draft.share < limits.least_share) continue;
      child.found = found++;
      heap.push(std::move(child));
    }
  };

  follow(kRoot, 0, 1, places);
  while (!heap.empty() && static_cast<std::int64_t>(grown.drafts.size()) < limits.drafts) {
    const Candidate best = heap.top();
    heap.pop();
    grown.score += best.draft.share;
    grown.drafts.push_back(best.draft);
    follow(static_cast<int>(grown.drafts.size()) - 1, best.draft.depth + 1, best.draft.share,
           best.places);
  }
  return grown;
}

std::vector<std::int32_t> places_of_ending(std::span<const Token> tokens, std::size_t run) {
  std::vector<std::int32_t> places;
  const std::span<const Token> ending = tokens.last(run);
  for (std::size_t at = 0; at + run <= tokens.size(); ++at)
    if (std::equal(ending.begin(), ending.end(), tokens.begin() + static_cast<std::ptrdiff_t>(at)))
      places.push_back(static_cast<std::int32_t>(at + run));
  return places;
}

Proposal proposal_of(const Continuations& grown, const std::vector<std::int32_t>& window) {
  Proposal proposal;
  for (const Continuations::Draft& draft : grown.drafts)
    proposal.nodes.push_back({draft.parent, window[draft.depth], draft.token});
  return proposal;
}

}  // namespace draftlab
