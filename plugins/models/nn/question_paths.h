// The paths of a question: which drafted tokens its asks see, and in which order.
#pragma once

#include <span>
#include <vector>

#include "core/model/question.h"

namespace draftlab {

// Says for each node whether an ask sees it: it asks there, or below it. A drafted token that
// nobody sees needs no row.
template <class Asks>
std::vector<char> seen_nodes(const std::vector<Node>& nodes, const Asks& asks) {
  std::vector<char> seen(nodes.size(), 0);
  for (const auto& ask : asks)
    for (int node = ask.node; node != kRoot && !seen[node]; node = nodes[node].parent)
      seen[node] = 1;
  return seen;
}

// Returns the nodes from the root's child down to `node`; none for the root.
inline std::vector<int> path_to(std::span<const Node> nodes, int node) {
  std::vector<int> path;
  for (; node != kRoot; node = nodes[node].parent) path.insert(path.begin(), node);
  return path;
}

// Returns the nodes without children.
inline std::vector<int> leaves_of(const std::vector<Node>& nodes) {
  std::vector<char> parent(nodes.size(), 0);
  for (const Node& node : nodes)
    if (node.parent != kRoot) parent[node.parent] = 1;
  std::vector<int> leaves;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (!parent[i]) leaves.push_back(static_cast<int>(i));
  return leaves;
}

}  // namespace draftlab
