#include "plugins/drafters/path_tree.h"

#include <algorithm>

#include "plugins/drafters/point_masses.h"

namespace draftlab {

void PathTree::grow(const std::vector<Distribution>& laws, std::int32_t position) {
  std::vector<int> grown;
  for (std::size_t i = 0; i < front_.size(); ++i) {
    const double score = front_[i] == kRoot ? 1 : tree_[front_[i]].score;
    for (const Token token : laws[i].best(static_cast<int>(width_))) {
      const double probability = laws[i].probability(token);
      if (probability <= 0) continue;
      grown.push_back(static_cast<int>(tree_.size()));
      tree_.push_back({{front_[i], position, token}, laws[i], score * probability});
    }
  }
  front_ = best_of(std::move(grown), width_);
}

void PathTree::ask(std::int32_t position, Question& question) const {
  std::vector<int> sent(tree_.size(), kRoot);
  const auto send = [&](auto&& self, int node) -> int {
    if (node == kRoot || sent[node] != kRoot) return node == kRoot ? kRoot : sent[node];
    Node copy = tree_[node].node;
    copy.parent = self(self, copy.parent);
    sent[node] = static_cast<int>(question.nodes.size());
    question.nodes.push_back(copy);
    return sent[node];
  };
  for (const int node : front_) question.asks.push_back({send(send, node), {position}});
}

int PathTree::place_in(const std::vector<Node>& nodes, int node) const {
  if (node == kRoot) return kRoot;
  const int parent = place_in(nodes, tree_[node].node.parent);
  return parent == kNoNode ? kNoNode : child_of(nodes, parent, tree_[node].node.token);
}

Proposal PathTree::best(std::int64_t count) const {
  std::vector<int> all(tree_.size()), place(tree_.size(), kRoot);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  Proposal proposal;
  for (const int node : best_of(std::move(all), count)) {
    place[node] = static_cast<int>(proposal.nodes.size());
    proposal.nodes.push_back(tree_[node].node);
    int& parent = proposal.nodes.back().parent;
    if (parent != kRoot) parent = place[parent];
    proposal.raw.push_back(tree_[node].raw);
  }
  return proposal;
}

// The nodes with the best scores, in the order of the tree. Of equal scores the node that is nearer
// to the root comes first, so that no node is kept without its parent.
std::vector<int> PathTree::best_of(std::vector<int> nodes, std::int64_t count) const {
  std::sort(nodes.begin(), nodes.end(), [&](int a, int b) {
    return tree_[a].score != tree_[b].score ? tree_[a].score > tree_[b].score : a < b;
  });
  nodes.resize(std::min(nodes.size(), static_cast<std::size_t>(count)));
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace draftlab
