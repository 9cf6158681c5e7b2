#include "core/model/question.h"

#include <cstdio>

#include "core/base/error.h"

namespace draftlab {

Form Question::form() const {
  if (!reverse.empty()) return Form::reverse;
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
  rows_.push_back({node, position, std::move(distribution), {}});
}

void Answer::add(int node, std::int32_t position, Eigen::VectorXd condition) {
  rows_.push_back({node, position, {}, std::move(condition)});
}

const Answer::Row* Answer::row(int node, std::int32_t position) const {
  for (const Row& row : rows_)
    if (row.node == node && row.position == position) return &row;
  return nullptr;
}

const Distribution* Answer::find(int node, std::int32_t position) const {
  const Row* const found = row(node, position);
  return found ? &found->distribution : nullptr;
}

const Distribution& Answer::at(int node, std::int32_t position) const {
  if (const Distribution* const found = find(node, position)) return *found;
  throw Fault("position {} at node {} was read but not asked", position, node);
}

const Eigen::VectorXd& Answer::condition(int node, std::int32_t position) const {
  const Row* const found = row(node, position);
  if (found && found->condition.size() > 0) return found->condition;
  throw Fault("position {} at node {} was read but has no condition", position, node);
}

std::string Answer::key() const {
  std::string key;
  char number[32];
  const auto add = [&](double x) {
    // Differences in the last bits are noise, not state.
    std::snprintf(number, sizeof number, "%.12g ", x);
    key += number;
  };
  for (const Row& row : rows_) {
    key += std::to_string(row.node) + "@" + std::to_string(row.position) + ":";
    if (!row.distribution.empty())
      for (const double p : row.distribution.probabilities()) add(p);
    for (const double x : row.condition) add(x);
  }
  return key;
}

}  // namespace draftlab
