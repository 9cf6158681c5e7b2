// The shapes of verification trees over a proposal's drafts (SSD, Sec. 3.2.3 and 5.2).
#pragma once

#include <vector>

#include "core/parts/verifier.h"

namespace draftlab {

// A tree of hypothetical states: a node places one draft, perhaps with another token, on its
// parent's state.
struct Branches {
  std::vector<Node> nodes;
  std::vector<int> draft,
      depth;  // of each node: which draft's position it fills, and how many tokens lie on its path
  std::vector<std::vector<int>> below = {{}};  // children of the root, then of each node

  int add(int parent, Node node_at, int of_draft);
  int depth_of(int node) const { return node == kRoot ? 0 : depth[node]; }
  const std::vector<int>& children(int node) const {
    return below[static_cast<std::size_t>(node + 1)];
  }
  // The node below `node` that has all of `choice` in place and nothing else; kNone where there is
  // none.
  static constexpr int kNone = -2;
  int follow(int node, const std::vector<Commit>& choice) const;
  // `canvas` with the drafts on the way to `node` in place.
  Canvas state_at(const Canvas& canvas, int node) const;
};

// Leading drafts that lie on one path.
int path_length(const Proposal& proposal);

// All trees begin with the proposal's exact drafts on a path, and go no deeper than `deep`.
//
// The drafts as they were drafted: on one path, or a tree.
Branches as_drafted(const Proposal& proposal, int deep);
// The path of the drafts, and a second child for each node that has a grandchild: the draft after
// next, in place of the next. Those end there.
Branches mix_order(const Proposal& proposal, int deep);
// The most probable paths over each draft's own token and the `tokens` - 1 likeliest others, by the
// distributions of the proposal: `budget` nodes at most, the one where the exact drafts are in
// place (the root, where there are none) included.
Branches most_probable(const Proposal& proposal, int deep, std::int64_t tokens,
                       std::int64_t budget);

}  // namespace draftlab
