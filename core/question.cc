#include "core/question.h"

#include <cstdio>

#include "core/error.h"

namespace draftlab {

Form Question::form() const {
  if (shallow) return Form::shallow;
  if (nodes.empty()) return Form::committed;
  return view == View::causal ? Form::chain : Form::branches;
}

int Question::leaves() const {
  std::vector<char> parent(nodes.size(), 0);
  int parents = 0;
  for (const Node& node : nodes) {
    if (node.parent == kRoot || parent[node.parent]) continue;
    parent[node.parent] = 1;
    ++parents;
  }
  return static_cast<int>(nodes.size()) - parents;
}

void Answer::add(int node, std::int32_t position, Distribution distribution) {
  rows_.push_back({node, position, std::move(distribution)});
}

const Distribution* Answer::find(int node, std::int32_t position) const {
  for (const Row& row : rows_) if (row.node == node && row.position == position) return &row.distribution;
  return nullptr;
}

const Distribution& Answer::at(int node, std::int32_t position) const {
  if (const Distribution* const found = find(node, position)) return *found;
  throw Fault("position " + std::to_string(position) + " at node " + std::to_string(node) + " was read but not asked");
}

std::string Answer::key() const {
  std::string key;
  char number[32];
  for (const Row& row : rows_) {
    key += std::to_string(row.node) + "@" + std::to_string(row.position) + ":";
    for (const double p : row.distribution.probabilities()) {
      std::snprintf(number, sizeof number, "%.12g ", p);  // differences in the last bits are noise, not state
      key += number;
    }
  }
  return key;
}

}  // namespace draftlab
