// Builds verification trees over a proposal's drafts (SSD, Sec. 3.2.3 and 5.2).
#pragma once

#include <vector>

#include "core/parts/verifier.h"

namespace draftlab {

// A tree of hypothetical states, or a graph of them. A node places one draft, perhaps with another
// token, on its parent's state.
struct Branches {
  std::vector<Node> nodes;
  // For each node: the draft whose position it fills, and how many tokens lie on its path.
  std::vector<int> draft, depth;
  // The children of the root, then those of each node.
  std::vector<std::vector<int>> below = {{}};

  int add(int parent, Node node_at, int of_draft);
  int depth_of(int node) const { return node == kRoot ? 0 : depth[node]; }
  const std::vector<int>& children(int node) const {
    return below[static_cast<std::size_t>(node + 1)];
  }
  // Makes a child of every node that holds one token more, whichever path it was built on: a state
  // does not depend on the order of its tokens (Spiffy, 2025). Paths of different orders then meet
  // in one row.
  void join();
  // Returns the node that placed what `child` holds beyond its parent: the child itself, unless it
  // was joined.
  int placed(int parent, int child) const;
  // Returns the node below `node` that has all of `choice` in place and nothing else; kNone where
  // there is none.
  static constexpr int kNone = -2;
  int follow(int node, const std::vector<Commit>& choice) const;
  // Returns whether the token stands on the way to `node`.
  bool holds(int node, const Node& token) const;
  // Returns `canvas` with the drafts on the way to `node` in place.
  Canvas state_at(const Canvas& canvas, int node) const;
};

// Returns how many leading drafts lie on one path.
int path_length(const Proposal& proposal);

// All trees begin with the proposal's exact drafts on a path, and go no deeper than `deep`.
//
// as_drafted() keeps the drafts as they were drafted: on one path, or as a tree.
Branches as_drafted(const Proposal& proposal, int deep);
// Builds the path of the drafts, and gives each node that has a grandchild a second child: the
// draft after next, in place of the next. These second children have no children.
Branches mix_order(const Proposal& proposal, int deep);
// Builds the most probable paths over each draft's own token and the `tokens` - 1 likeliest others,
// by the distributions of the proposal. It has at most `budget` nodes, including the one where the
// exact drafts are in place (the root, where there are none).
Branches most_probable(const Proposal& proposal, int deep, std::int64_t tokens,
                       std::int64_t budget);

}  // namespace draftlab
