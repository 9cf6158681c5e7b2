// What parts answer is checked against the contract of core/README.md before anybody uses it.
#include <algorithm>
#include <cmath>
#include <optional>

#include "plugins/remote/remote.h"

namespace draftlab::remote {
namespace {

template <class Enum>
std::optional<Enum> named(const std::string& word, std::initializer_list<Enum> all) {
  for (const Enum each : all)
    if (name(each) == word) return each;
  return std::nullopt;
}

}  // namespace

void AnswerReader::check_position(std::int32_t position, const char* verb) const {
  const Canvas& canvas = step_.canvas;
  if (position < 0 || position >= canvas.length())
    remote_.refuse("{} position {} of a canvas of {}", verb, position, canvas.length());
  if (!canvas.masked(position) && !canvas.tentative(position))
    remote_.refuse("{} position {}, which is final", verb, position);
}

void AnswerReader::check_token(Token token) const {
  if (token < 0 || token >= step_.vocabulary)
    remote_.refuse("names token {} of a vocabulary of {}", token, step_.vocabulary);
}

std::vector<Node> AnswerReader::nodes(const Json& rows) const {
  std::vector<Node> nodes;
  for (const Json& row : rows) {
    const Node node{row.at(0), row.at(1), row.at(2)};
    if (node.parent < kRoot || node.parent >= static_cast<int>(nodes.size()))
      remote_.refuse("puts a node on the unknown node {}", node.parent);
    check_position(node.position, "drafts");
    check_token(node.token);
    nodes.push_back(node);
  }
  return nodes;
}

std::vector<Commit> AnswerReader::commits(const Json& rows, bool edits) const {
  std::vector<Commit> commits;
  for (const Json& row : rows) {
    const auto source =
        named<Source>(row.at(2), {Source::accepted, Source::resampled, Source::bonus,
                                  Source::threshold, Source::fallback, Source::edited});
    if (!source) remote_.refuse("commits from the unknown source {}", row.at(2).dump());
    const Commit commit{row.at(0), row.at(1), *source};
    const char* const verb = edits ? "edits" : "commits";
    check_position(commit.position, verb);
    if (edits != step_.canvas.tentative(commit.position))
      remote_.refuse("{} position {}, which {}", verb, commit.position,
                     edits ? "is not tentative" : "holds a token");
    check_token(commit.token);
    for (const Commit& other : commits)
      if (other.position == commit.position)
        remote_.refuse("commits position {} twice", commit.position);
    commits.push_back(commit);
  }
  return commits;
}

Question AnswerReader::question(const Json& asked, int& model) const {
  Question question;
  const std::string kind = asked.at("kind"), view = asked.at("view");
  const auto known_kind = named(kind, {Kind::draft, Kind::verify});
  const auto known_view = named(view, {View::bidirectional, View::causal});
  if (!known_kind) remote_.refuse("asks a question of the unknown kind '{}'", kind);
  if (!known_view) remote_.refuse("asks in the unknown view '{}'", view);
  question.kind = *known_kind, question.view = *known_view;
  question.shallow = asked.at("shallow");
  question.nodes = nodes(asked.at("nodes"));
  for (const Json& ask : asked.at("asks")) {
    Ask one{ask.at(0), ask.at(1).get<std::vector<std::int32_t>>()};
    if (one.node < kRoot || one.node >= static_cast<int>(question.nodes.size()))
      remote_.refuse("asks at the unknown node {}", one.node);
    if (one.positions.empty()) remote_.refuse("asks no position");
    for (const std::int32_t position : one.positions) check_position(position, "asks");
    question.asks.push_back(std::move(one));
  }
  if (question.asks.empty()) remote_.refuse("asks nothing");
  model = asked.at("model");
  const auto models = std::max<std::size_t>(1, step_.models.size());
  if (model < 0 || static_cast<std::size_t>(model) >= models)
    remote_.refuse("asks model {}, and there are {}", model, models);
  const std::vector<Form>& declared =
      model == 0 ? remote_.spec().asks : remote_.spec().asks_draft_model;
  if (std::find(declared.begin(), declared.end(), question.form()) == declared.end())
    remote_.refuse("asks a question of the form '{}', which its `{}` does not declare",
                   name(question.form()), model == 0 ? "asks" : "asks_draft_model");
  return question;
}

Proposal AnswerReader::proposal(const Message& answer, Scope& scope) const {
  return understood(remote_, answer, [&](const Message& said) {
    const Json& from = said.header.at("r");
    Proposal proposal;
    proposal.nodes = nodes(from.at("nodes"));
    for (const Node& node : proposal.nodes)
      if (!step_.window.holds(node.position))
        remote_.refuse("drafts position {}, which the window lacks", node.position);
    if (!from.at("drawn_from").is_null())
      proposal.drawn_from = scope.resolve_all(from.at("drawn_from"), said);
    if (!from.at("raw").is_null()) proposal.raw = scope.resolve_all(from.at("raw"), said);
    for (const auto* const laws : {&proposal.drawn_from, &proposal.raw}) {
      if (!laws->empty() && laws->size() != proposal.nodes.size())
        remote_.refuse("gives {} distributions for {} drafts", laws->size(), proposal.nodes.size());
      for (const Distribution& law : *laws)
        if (law.size() != step_.vocabulary)
          remote_.refuse("gives a distribution over {} tokens, and the vocabulary has {}",
                         law.size(), step_.vocabulary);
    }
    for (std::size_t i = 0; i < proposal.drawn_from.size(); ++i)
      if (!(proposal.drawn_from[i].probability(proposal.nodes[i].token) > 0))
        remote_.refuse("says that token {} was drawn from a distribution that never gives it",
                       proposal.nodes[i].token);
    proposal.exact = from.at("exact");
    if (proposal.exact < 0 || proposal.exact > static_cast<int>(proposal.nodes.size()))
      remote_.refuse("calls {} of {} drafts exact", proposal.exact, proposal.nodes.size());
    proposal.lookahead = from.at("lookahead");
    if (proposal.lookahead < 0) remote_.refuse("looks ahead by a negative number of positions");
    proposal.edits = commits(from.at("edits"), true);
    if (!from.at("root_answer").is_null())
      proposal.root_answer = scope.answer(from.at("root_answer"));
    return proposal;
  });
}

Carry AnswerReader::carry(const Json& from, const Scope& scope) const {
  Carry carry{scope.answer(from.at(0)), from.at(1), from.at(2)};
  for (const Json& row : from.at(3)) {
    const Node node{row.at(0), row.at(1), row.at(2)};
    if (node.parent < kRoot || node.parent >= static_cast<int>(carry.nodes.size()))
      remote_.refuse("carries a node behind the node {}, which does not stand before it",
                     node.parent);
    if (node.position < 0 || node.position >= static_cast<int>(step_.canvas.length()) ||
        node.token < 0 || node.token >= step_.vocabulary)
      remote_.refuse("carries token {} at position {}, which do not exist", node.token,
                     node.position);
    carry.nodes.push_back(node);
  }
  if (carry.node < kRoot || carry.node >= static_cast<int>(carry.nodes.size()))
    remote_.refuse("stops at node {} of {} that it carries", carry.node, carry.nodes.size());
  if (carry.unseen_commits < 0) remote_.refuse("carries a negative number of unseen commits");
  return carry;
}

Verdict AnswerReader::verdict(const Proposal& proposal, const Message& answer,
                              const Scope& scope) const {
  return understood(remote_, answer, [&](const Message& said) {
    const Json& from = said.header.at("r");
    Verdict verdict;
    verdict.commits = commits(from.at("commits"), false);
    for (const Commit& commit : verdict.commits)
      if (!step_.window.holds(commit.position))
        remote_.refuse("commits position {}, which the window lacks", commit.position);
    const auto why =
        named<Stop>(from.at("why"), {Stop::complete, Stop::wrong_token, Stop::wrong_order,
                                     Stop::window_end, Stop::block_end, Stop::cache_refresh,
                                     Stop::budget, Stop::end_of_text, Stop::unverified});
    if (!why) remote_.refuse("stops for the unknown reason {}", from.at("why").dump());
    verdict.why = *why;
    for (const Json& row : from.at("judged")) {
      const Judged judged{row.at(0), row.at(1), row.at(2), row.at(3), row.at(4)};
      if (judged.accept < 0 || judged.accept > 1)
        remote_.refuse("accepts with probability {}", judged.accept);
      verdict.judged.push_back(judged);
    }
    if (verdict.judged.size() > proposal.nodes.size())
      remote_.refuse("judges {} of {} drafts", verdict.judged.size(), proposal.nodes.size());
    if (const Json& stopped = from.at("carry"); !stopped.is_null())
      verdict.carry = carry(stopped, scope);
    return verdict;
  });
}

}  // namespace draftlab::remote
