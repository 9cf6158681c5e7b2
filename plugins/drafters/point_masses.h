// What drafters share that guess tokens without drawing them: paths of point masses, and what the
// target does where there is no guess.
#pragma once

#include <algorithm>
#include <span>

#include "plugins/drafters/own_draw.h"

namespace draftlab {

// Returns the node behind `parent` that holds the token; where there is none, the index after the
// last node.
inline int child_of(const std::vector<Node>& nodes, int parent, Token token) {
  int child = 0;
  const int count = static_cast<int>(nodes.size());
  while (child < count && !(nodes[child].parent == parent && nodes[child].token == token)) ++child;
  return child;
}

// Adds a path to the proposal, up to the end of the window. Paths share the nodes that they begin
// with, so siblings differ, as point masses must.
inline void add_path(std::span<const Token> path, const std::vector<std::int32_t>& window,
                     Proposal& proposal) {
  int at = kRoot;
  for (std::size_t i = 0; i < std::min(path.size(), window.size()); ++i) {
    const int child = child_of(proposal.nodes, at, path[i]);
    if (child == static_cast<int>(proposal.nodes.size()))
      proposal.nodes.push_back({at, window[i], path[i]});
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
