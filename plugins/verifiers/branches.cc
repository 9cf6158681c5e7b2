#include "plugins/verifiers/branches.h"

#include <algorithm>
#include <queue>

namespace draftlab {
namespace {

// Puts the leading `count` drafts on one path.
Branches path(const Proposal& proposal, int count) {
  Branches branches;
  for (int i = 0; i < count; ++i) branches.add(i - 1, proposal.nodes[i], i);
  return branches;
}

}  // namespace

int Branches::add(int parent, Node node_at, int of_draft) {
  node_at.parent = parent;
  nodes.push_back(node_at);
  draft.push_back(of_draft);
  depth.push_back(depth_of(parent) + 1);
  below.emplace_back();
  const int node = static_cast<int>(nodes.size()) - 1;
  below[static_cast<std::size_t>(parent + 1)].push_back(node);
  return node;
}

bool Branches::holds(int node, const Node& token) const {
  while (node != kRoot &&
         (nodes[node].position != token.position || nodes[node].token != token.token))
    node = nodes[node].parent;
  return node != kRoot;
}

int Branches::placed(int parent, int child) const {
  int node = child;
  while (nodes[child].parent != parent && holds(parent, nodes[node])) node = nodes[node].parent;
  return node;
}

void Branches::join() {
  const int count = static_cast<int>(nodes.size());
  for (int parent = kRoot; parent < count; ++parent) {
    for (int child = 0; child < count; ++child) {
      if (depth[child] != depth_of(parent) + 1 || nodes[child].parent == parent) continue;
      bool all = true;
      for (int at = parent; at != kRoot && all; at = nodes[at].parent)
        all = holds(child, nodes[at]);
      if (all) below[static_cast<std::size_t>(parent + 1)].push_back(child);
    }
  }
}

int Branches::follow(int node, const std::vector<Commit>& choice) const {
  if (choice.empty()) return node;
  for (const int child : children(node)) {
    const Node& token = nodes[placed(node, child)];
    const auto made = std::find_if(choice.begin(), choice.end(), [&](const Commit& commit) {
      return commit.position == token.position && commit.token == token.token;
    });
    if (made == choice.end()) continue;
    std::vector<Commit> rest(choice.begin(), made);
    rest.insert(rest.end(), made + 1, choice.end());
    if (const int found = follow(child, rest); found != kNone) return found;
  }
  return kNone;
}

Canvas Branches::state_at(const Canvas& canvas, int node) const {
  std::vector<const Node*> path;
  for (int at = node; at != kRoot; at = nodes[at].parent) path.push_back(&nodes[at]);
  Canvas state = canvas;
  for (auto at = path.rbegin(); at != path.rend(); ++at)
    state.commit((*at)->position, (*at)->token);
  return state;
}

int path_length(const Proposal& proposal) {
  int length = 0;
  while (length < static_cast<int>(proposal.nodes.size()) &&
         proposal.nodes[length].parent == length - 1)
    ++length;
  return length;
}

Branches as_drafted(const Proposal& proposal, int deep) {
  Branches branches;
  std::vector<int> placed(proposal.nodes.size(), Branches::kNone);
  for (int i = 0; i < static_cast<int>(proposal.nodes.size()); ++i) {
    const int parent = proposal.nodes[i].parent == kRoot ? kRoot : placed[proposal.nodes[i].parent];
    if (parent == Branches::kNone || (i >= proposal.exact && branches.depth_of(parent) >= deep))
      continue;
    placed[i] = branches.add(parent, proposal.nodes[i], i);
  }
  return branches;
}

Branches mix_order(const Proposal& proposal, int deep) {
  deep = std::min(deep, path_length(proposal));
  Branches branches = path(proposal, std::max(deep, proposal.exact));
  for (int i = proposal.exact; i + 1 < deep; ++i) branches.add(i - 1, proposal.nodes[i + 1], i + 1);
  return branches;
}

Branches most_probable(const Proposal& proposal, int deep, std::int64_t tokens,
                       std::int64_t budget) {
  struct Open {
    double probability;
    int serial, parent, draft;
    Token token;
  };
  const auto later = [](const Open& a, const Open& b) {
    return a.probability != b.probability ? a.probability < b.probability : a.serial > b.serial;
  };
  std::priority_queue<Open, std::vector<Open>, decltype(later)> open(later);
  const std::vector<Distribution>& known =
      proposal.raw.empty() ? proposal.drawn_from : proposal.raw;
  deep = std::min(deep, path_length(proposal));
  int serial = 0;
  const auto expand = [&](int parent, int draft, double probability) {
    if (draft >= deep) return;
    std::vector<Token> tried = {proposal.nodes[draft].token};
    if (!known.empty()) {
      for (const Token token : known[draft].best(static_cast<int>(tokens)))
        if (token != tried.front()) tried.push_back(token);
    }
    tried.resize(std::min(tried.size(), static_cast<std::size_t>(tokens)));
    for (const Token token : tried)
      open.push({known.empty() ? probability : probability * known[draft].probability(token),
                 serial++, parent, draft, token});
  };

  Branches branches = path(proposal, proposal.exact);
  expand(proposal.exact - 1, proposal.exact, 1);
  while (!open.empty() &&
         static_cast<std::int64_t>(branches.nodes.size()) - proposal.exact + 1 < budget) {
    const Open best = open.top();
    open.pop();
    const int node = branches.add(
        best.parent, {kRoot, proposal.nodes[best.draft].position, best.token}, best.draft);
    expand(node, best.draft + 1, best.probability);
  }
  return branches;
}

}  // namespace draftlab
