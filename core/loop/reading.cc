#include "core/loop/reading.h"

#include <algorithm>
#include <set>

namespace draftlab {
namespace {

std::ptrdiff_t known(const std::vector<Token>& tokens) {
  return static_cast<std::ptrdiff_t>(tokens.size()) -
         std::count(tokens.begin(), tokens.end(), kNoToken);
}

}  // namespace

bool Reading::goes_on(const Canvas& canvas, const Question& question) {
  std::vector<Token> now = canvas.tokens();
  const std::ptrdiff_t committed = known(now);
  int last = kRoot;
  for (const Ask& ask : question.asks) last = std::max(last, ask.node);
  for (int node = 0; node <= last; ++node)
    now[question.nodes[node].position] = question.nodes[node].token;
  bool agrees = true;
  for (std::size_t i = 0; i < now.size(); ++i)
    agrees = agrees && (read_[i] == kNoToken || read_[i] == now[i]);
  for (const Ask& ask : question.asks) agrees = agrees && committed + ask.node + 1 >= known(read_);
  read_ = std::move(now);
  return agrees;
}

bool branches(const Question& question) {
  std::set<int> parents;
  for (const Node& node : question.nodes)
    if (!parents.insert(node.parent).second) return true;
  return false;
}

}  // namespace draftlab
