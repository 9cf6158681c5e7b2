// What drafters share that guess tokens without drawing them: paths of point masses, and what the
// target does where there is no guess.
#pragma once

#include <algorithm>
#include <span>

#include "plugins/drafters/own_draw.h"

namespace draftlab {

inline constexpr int kNoNode = -2;

// Returns the node behind `parent` that holds the token; kNoNode where there is none.
inline int child_of(const std::vector<Node>& nodes, int parent, Token token) {
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].parent == parent && nodes[i].token == token) return static_cast<int>(i);
  return kNoNode;
}

// Adds a path to the proposal, up to the end of the window. Paths share the nodes that they begin
// with, so siblings differ, as point masses must.
inline void add_path(std::span<const Token> path, const std::vector<std::int32_t>& window,
                     Proposal& proposal) {
  int at = kRoot;
  for (std::size_t i = 0; i < std::min(path.size(), window.size()); ++i) {
    int child = child_of(proposal.nodes, at, path[i]);
    if (child == kNoNode) {
      child = static_cast<int>(proposal.nodes.size());
      proposal.nodes.push_back({at, window[i], path[i]});
    }
    at = child;
  }
}

// The proposal, or one draw of the target's own where it is empty.
inline Asking<Proposal> or_own_draw(const Step& step, Proposal proposal) {
  if (!proposal.nodes.empty()) co_return proposal;
  Asking<Proposal> fallback = own_draw(step, Purpose::bonus);
  proposal = co_await fallback;
  co_return proposal;
}

// The tokens before the window, with kNoToken for masks.
inline std::span<const Token> text_before(const Step& step) {
  return {step.canvas.tokens().data(), static_cast<std::size_t>(step.window.positions.front())};
}

}  // namespace draftlab
