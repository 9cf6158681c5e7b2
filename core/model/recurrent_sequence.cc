#include "core/model/recurrent_sequence.h"

#include <algorithm>

#include "core/base/error.h"

namespace draftlab {

RecurrentSequence::RecurrentSequence(const Canvas& its, const RollbackRules& rules,
                                     const Sizes& sizes)
    : Sequence(its), rules_(rules), sizes_(sizes) {
  if (canvas.length() == 0 || canvas.masked(0))
    throw ConfigError("a recurrent model needs a prompt token at position 0");
  restart();
}

void RecurrentSequence::restart() {
  if (!tree_.empty()) {
    read_before_ = tree_[0].tokens;
    int last = 0;
    for (std::size_t i = 1; i < tree_.size(); ++i) {
      if (tree_[i].parent != last || !tree_[i].logits) continue;
      last = static_cast<int>(i);
      read_before_.insert(read_before_.end(), tree_[i].tokens.begin(), tree_[i].tokens.end());
    }
  }
  tree_.assign(1, Entry{.state = std::vector<float>(sizes_.state, 0.0F)});
  entry_of_.clear();
}

std::vector<Token> RecurrentSequence::committed(std::int32_t from) const {
  std::vector<Token> tokens;
  for (std::int32_t i = from; i < canvas.length() && !canvas.masked(i); ++i)
    tokens.push_back(canvas.token(i));
  return tokens;
}

bool RecurrentSequence::root_is_committed() const {
  const std::vector<Token>& read = tree_[0].tokens;
  return std::equal(read.begin(), read.end(), canvas.tokens().begin());
}

int RecurrentSequence::child(int parent, const std::vector<Token>& tokens) const {
  for (std::size_t i = 1; i < tree_.size(); ++i)
    if (tree_[i].parent == parent && tree_[i].tokens == tokens) return static_cast<int>(i);
  return kNone;
}

int RecurrentSequence::last_committed() const {
  int last = 0;
  for (std::size_t i = 1; i < tree_.size(); ++i) {
    const Entry& entry = tree_[i];
    const std::int32_t first = tree_[last].depth;
    if (entry.parent == last && entry.logits &&
        std::equal(entry.tokens.begin(), entry.tokens.end(), canvas.tokens().begin() + first))
      last = static_cast<int>(i);
  }
  return last;
}

int RecurrentSequence::with_state(int entry) const {
  while (entry >= 0 && tree_[entry].state.empty()) entry = tree_[entry].parent;
  if (entry < 0) throw Fault("a recurrent model was asked about a state that it cannot go back to");
  return entry;
}

bool RecurrentSequence::owes_rerun() const {
  if (rules_.rollback != Rollback::replay || rules_.rerun != Rerun::own) return false;
  return root_is_committed() && tree_[last_committed()].state.empty();
}

void RecurrentSequence::add_entry(Entry& entry, const float* before, float* after,
                                  std::vector<RecurrentRow>& rows) {
  for (const Token token : entry.tokens) {
    rows.push_back({.token = token, .before = before, .after = after});
    before = after;
  }
  if (entry.logits) return;
  entry.logits = std::make_shared<std::vector<float>>(sizes_.vocabulary);
  rows.back().logits = entry.logits->data();
}

int RecurrentSequence::catch_up(Pending& pending, std::vector<RecurrentRow>& rows) {
  if (!root_is_committed()) restart();
  const std::vector<Token> line = committed(0);
  const int last = last_committed();
  const bool all_read = tree_[last].depth == static_cast<std::int32_t>(line.size());
  // With `none` the only state may stand below, at the end of drafts that are asked again.
  const int from = all_read && rules_.rollback == Rollback::none ? last : with_state(last);
  pending.rerun += tree_[last].depth - tree_[from].depth;
  const auto again =
      std::mismatch(read_before_.begin(), read_before_.end(), line.begin(), line.end());
  pending.rerun += again.first - read_before_.begin();
  read_before_.clear();

  Entry& root = tree_[0];
  Entry rest{.tokens = {line.begin() + tree_[from].depth, line.end()}};
  if (from != 0) root.state = std::move(tree_[from].state);
  root.logits = tree_[last].logits;
  root.tokens = line;
  root.depth = static_cast<std::int32_t>(line.size());
  if (!rest.tokens.empty()) {
    add_entry(rest, root.state.data(), root.state.data(), rows);
    root.logits = std::move(rest.logits);
  }
  return all_read ? last : kNone;
}

void RecurrentSequence::replace_drafts(const Question& question, int old_root) {
  const std::vector<Node>& nodes = question.nodes;
  // A drafted token that nobody sees needs no row.
  std::vector<char> needed(nodes.size(), 0);
  for (const Ask& ask : question.asks)
    for (int node = ask.node; node != kRoot && !needed[node]; node = nodes[node].parent)
      needed[node] = 1;

  std::vector<Entry> fresh;
  // For each of these: the entry of the last question that it was.
  std::vector<int> was{old_root};
  entry_of_.assign(nodes.size(), kNone);
  std::vector<Entry> old = std::move(tree_);
  fresh.push_back(std::move(old[0]));
  tree_ = std::move(old);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!needed[i]) continue;
    const int parent = nodes[i].parent == kRoot ? 0 : entry_of_[nodes[i].parent];
    const std::int32_t depth = fresh[parent].depth;
    if (nodes[i].position != depth)
      throw Fault("position {} was drafted for a causal model whose next position is {}",
                  nodes[i].position, depth);
    Entry entry{.parent = parent, .tokens = {nodes[i].token}};
    const std::vector<Token> given = committed(depth + 1);
    entry.tokens.insert(entry.tokens.end(), given.begin(), given.end());
    entry.depth = depth + static_cast<std::int32_t>(entry.tokens.size());
    const int known = was[parent] == kNone ? kNone : child(was[parent], entry.tokens);
    if (known != kNone) {
      entry.state = std::move(tree_[known].state);
      entry.logits = std::move(tree_[known].logits);
    }
    entry_of_[i] = static_cast<int>(fresh.size());
    was.push_back(known);
    fresh.push_back(std::move(entry));
  }
  tree_ = std::move(fresh);
}

void RecurrentSequence::add_path(int leaf, Pending& pending, std::vector<RecurrentRow>& rows) {
  std::vector<int> path;
  for (int entry = leaf; entry != 0; entry = tree_[entry].parent) path.push_back(entry);
  std::reverse(path.begin(), path.end());
  std::size_t first = 0;  // Of the path, the first draft that was not read yet.
  while (first < path.size() && tree_[path[first]].logits) ++first;
  if (first == path.size()) return;
  std::size_t begin = first;  // The first draft whose row is needed: what is before it has a state.
  while (begin > 0 && tree_[path[begin - 1]].state.empty()) --begin;

  Entry &tip = tree_[leaf], &from = tree_[with_state(begin == 0 ? 0 : path[begin - 1])];
  const bool goes_along = begin > 0 || rules_.rollback == Rollback::none;
  const float* before = from.state.data();
  if (goes_along) {
    tip.state = std::move(from.state);
  } else {
    tip.state.resize(sizes_.state);
    pending.kept_bytes += static_cast<std::int64_t>(sizes_.state * sizeof(float));
  }
  if (goes_along) before = tip.state.data();
  for (std::size_t i = begin; i < path.size(); ++i) {
    Entry& entry = tree_[path[i]];
    if (entry.logits) pending.rerun += static_cast<std::int64_t>(entry.tokens.size());
    add_entry(entry, before, tip.state.data(), rows);
    before = tip.state.data();
  }
}

void RecurrentSequence::add_rows(Pending& pending, std::vector<RecurrentRow>& rows) {
  const std::size_t rows_before = rows.size();
  replace_drafts(*pending.question, catch_up(pending, rows));
  std::vector<char> inner(tree_.size(), 0);
  for (const Entry& entry : tree_)
    if (entry.parent >= 0) inner[entry.parent] = 1;
  for (std::size_t i = 1; i < tree_.size(); ++i) {
    Entry& entry = tree_[i];
    if (rules_.rollback != Rollback::snapshot) {
      if (!inner[i]) add_path(static_cast<int>(i), pending, rows);
    } else if (!entry.logits) {
      entry.state.resize(sizes_.state);
      pending.kept_bytes += static_cast<std::int64_t>(sizes_.state * sizeof(float));
      add_entry(entry, tree_[entry.parent].state.data(), entry.state.data(), rows);
    }
  }
  pending.rows = std::max(1, pending.question->leaves());
  pending.positions = static_cast<std::int64_t>(rows.size() - rows_before);
}

const std::shared_ptr<std::vector<float>>& RecurrentSequence::logits(int node) const {
  return tree_[node == kRoot ? 0 : entry_of_[node]].logits;
}

std::int32_t RecurrentSequence::next(int node) const {
  return tree_[node == kRoot ? 0 : entry_of_[node]].depth;
}

}  // namespace draftlab
