#include "plugins/verifiers/paths.h"

#include <algorithm>

namespace draftlab {
namespace {

constexpr int kNotSent = -2;

}  // namespace

Paths::Paths(const Step& its_step, const Proposal& its_proposal, bool bonus, bool whole)
    : step(its_step), proposal(its_proposal), whole_(whole) {
  const std::size_t drafted = proposal.nodes.size();
  depth.assign(drafted, 0);
  sent.assign(drafted, kNotSent);
  drafts.resize(drafted + 1);
  for (std::size_t i = 0; i < drafted; ++i) {
    const int parent = proposal.nodes[i].parent;
    if (parent != kRoot) depth[i] = depth[parent] + 1;
    if (depth[i] < asked_end()) drafts[parent + 1].push_back(static_cast<int>(i));
  }
  make_question(bonus);
}

int Paths::exact() const { return std::min(proposal.exact, step.window.span); }

void Paths::make_question(bool bonus) {
  const int drafted = static_cast<int>(proposal.nodes.size());
  std::vector<int> asked;
  for (int node = kRoot; node < drafted; ++node) {
    if (!below(node).empty() && below(node).front() >= exact()) asked.push_back(node);
  }
  tests_ = !asked.empty();
  for (int node = kRoot; node < drafted; ++node) {
    const bool leaf = below(node).empty() && room(node);
    if (tests_ && leaf && (bonus || proposal.lookahead > 0)) asked.push_back(node);
  }
  for (int node : asked)
    for (; node != kRoot && sent[node] == kNotSent; node = proposal.nodes[node].parent)
      sent[node] = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (sent[i] == kNotSent) continue;
    sent[i] = static_cast<int>(question.nodes.size());
    question.nodes.push_back(
        {sent_as(proposal.nodes[i].parent), proposal.nodes[i].position, proposal.nodes[i].token});
  }
  std::sort(asked.begin(), asked.end());
  for (const int node : asked) {
    const auto first = step.window.positions.begin() + next(node);
    const auto count =
        std::min<std::ptrdiff_t>(std::max(1, proposal.lookahead), asked_end() - next(node));
    question.asks.push_back({sent_as(node), {first, first + count}});
  }
}

Asking<bool> Paths::ask() {
  if (tests()) {
    Question asked = std::move(question);
    answer = co_await step.ask(std::move(asked));
  }
  co_return tests();
}

std::vector<Judged> Paths::unjudged() const {
  return {proposal.nodes.size(), {kNotMeasured, kNotMeasured, kNotMeasured, false, false}};
}

int Paths::accept_exact(Verdict& verdict) const {
  int at = kRoot;
  while (!below(at).empty() && below(at).front() < exact()) {
    at = below(at).front();
    verdict.judged[at] = {claimed(at), claimed(at), 1, true, true};
    accept(at, verdict);
  }
  return at;
}

bool Paths::commit_bonus(int leaf, Verdict& verdict) const {
  if (!tests() || !room(leaf)) return false;
  const std::int32_t at = position(leaf);
  verdict.commits.push_back(
      {at, step.chance.draw(step.drawn(raw(leaf)), step.site(at, Purpose::bonus)), Source::bonus});
  return true;
}

void Paths::carry(int node, int unseen, Verdict& verdict) {
  if (proposal.lookahead == 0 || answer.empty()) return;
  verdict.carry = Carry{std::move(answer), sent_as(node), unseen};
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const Node& drafted = proposal.nodes[i];
    if (sent[i] != kNotSent)
      verdict.carry->nodes.push_back({sent_as(drafted.parent), drafted.position, drafted.token});
  }
}

}  // namespace draftlab
