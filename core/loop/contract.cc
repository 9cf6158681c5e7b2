#include "core/loop/contract.h"

#include <cmath>
#include <set>

namespace draftlab {
namespace {

// Sums of probabilities are rounded.
constexpr double kRounding = 1e-9;

bool is_probability(double p) { return p >= 0 && p <= 1 + kRounding; }
bool is_unknown_or_probability(double p) { return std::isnan(p) || is_probability(p); }

template <class Enum>
bool is_one_of(Enum value, Enum last) {
  return static_cast<int>(value) >= 0 && static_cast<int>(value) <= static_cast<int>(last);
}

void check_token(const Author& author, Token token, int vocabulary, const char* verb) {
  if (token < 0 || token >= vocabulary)
    author.blame("{} token {} of a vocabulary of {}", verb, token, vocabulary);
}

void check_position(const Author& author, std::int32_t position, const Canvas& canvas,
                    const char* verb) {
  if (position < 0 || position >= canvas.length())
    author.blame("{} position {} of a canvas of {}", verb, position, canvas.length());
}

// Refuses positions that are not masked, or are named twice.
class OpenPositions {
 public:
  OpenPositions(const Author& author, const Canvas& canvas, const char* verb)
      : author_(author),
        canvas_(canvas),
        verb_(verb),
        seen_(static_cast<std::size_t>(canvas.length()), 0) {}
  void check(std::int32_t position) {
    check_position(author_, position, canvas_, verb_);
    if (!canvas_.masked(position))
      author_.blame("{} position {}, which holds a token", verb_, position);
    if (seen_[position]++) author_.blame("{} position {} twice", verb_, position);
  }

 private:
  const Author& author_;
  const Canvas& canvas_;
  const char* verb_;
  std::vector<char> seen_;
};

void check_nodes(const Author& drafter, const std::vector<Node>& nodes, const Canvas& canvas,
                 int vocabulary) {
  for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
    const Node& node = nodes[i];
    if (node.parent < kRoot || node.parent >= i)
      drafter.blame("puts draft {} on the unknown node {}", i, node.parent);
    check_position(drafter, node.position, canvas, "drafts");
    if (!canvas.masked(node.position))
      drafter.blame("drafts position {}, which holds a token", node.position);
    if (node.parent != kRoot && nodes[node.parent].position == node.position)
      drafter.blame("drafts position {} twice on one path", node.position);
    check_token(drafter, node.token, vocabulary, "drafts");
  }
}

void check_edits(const Author& drafter, const std::vector<Commit>& edits, const Canvas& canvas,
                 int vocabulary) {
  for (const Commit& edit : edits) {
    check_position(drafter, edit.position, canvas, "edits");
    if (!canvas.tentative(edit.position))
      drafter.blame("edits position {}, which is not tentative", edit.position);
    check_token(drafter, edit.token, vocabulary, "edits in");
  }
}

}  // namespace

void check_window(const Author& frontier, const Window& window, const Canvas& canvas) {
  OpenPositions open(frontier, canvas, "opens");
  for (const std::int32_t position : window.positions) open.check(position);
  if (window.span < 0 || window.span > static_cast<int>(window.positions.size()))
    frontier.blame("has a span of {} of {} positions", window.span, window.positions.size());
  if (window.block < 0) frontier.blame("is in block {}", window.block);
  if (!is_one_of(window.boundary, Stop::unverified))
    frontier.blame("ends a span for the unknown reason {}", static_cast<int>(window.boundary));
}

void check_settled(const Author& frontier, const std::vector<std::int32_t>& positions,
                   const Canvas& canvas) {
  for (const std::int32_t position : positions)
    check_position(frontier, position, canvas, "settles");
}

void check_proposal(const Author& drafter, const Proposal& proposal, const Canvas& canvas,
                    int vocabulary) {
  check_nodes(drafter, proposal.nodes, canvas, vocabulary);
  const int drafts = static_cast<int>(proposal.nodes.size());
  for (const auto* const laws : {&proposal.drawn_from, &proposal.raw}) {
    if (!laws->empty() && static_cast<int>(laws->size()) != drafts)
      drafter.blame("gives {} distributions for {} drafts", laws->size(), drafts);
    for (const Distribution& law : *laws)
      if (!law.empty() && law.size() != vocabulary)
        drafter.blame("gives a distribution over {} tokens, and the vocabulary has {}", law.size(),
                      vocabulary);
  }
  for (std::size_t i = 0; i < proposal.drawn_from.size(); ++i)
    if (!proposal.drawn_from[i].empty() &&
        !(proposal.drawn_from[i].probability(proposal.nodes[i].token) > 0))
      drafter.blame("says that token {} was drawn from a distribution that never gives it",
                    proposal.nodes[i].token);
  if (proposal.exact < 0 || proposal.exact > drafts)
    drafter.blame("calls {} of {} drafts exact", proposal.exact, drafts);
  if (proposal.lookahead < 0) drafter.blame("looks ahead by {} positions", proposal.lookahead);
  check_edits(drafter, proposal.edits, canvas, vocabulary);
}

void check_readable(const Author& router, double expected) {
  if (!std::isfinite(expected))
    router.blame(
        "reads an expected accepted prefix of {}, which decides nothing; its estimator must be one "
        "that these drafts have numbers for",
        expected);
}

void check_route(const Author& router, const Route& route) {
  if (!(route.flip >= 0 && route.flip <= 1))
    router.blame("reverses its decision with probability {}", route.flip);
  if (!(route.propensity > 0 && route.propensity <= 1))
    router.blame("took its decision with probability {}", route.propensity);
}

void check_expected(const Author& estimator, double expected) {
  if (expected < 0 || std::isinf(expected))
    estimator.blame("expects an accepted prefix of {} drafts", expected);
}

void check_preview(const Author& unmasker, int preview, const Proposal& proposal) {
  if (preview < 0 || preview > static_cast<int>(proposal.nodes.size()))
    unmasker.blame("calls {} of {} drafts confident", preview, proposal.nodes.size());
}

void check_verdict(const Author& author, const Verdict& verdict, const Proposal& proposal,
                   const Step& step) {
  OpenPositions open(author, step.canvas, "commits");
  for (const Commit& commit : verdict.commits) {
    open.check(commit.position);
    check_token(author, commit.token, step.vocabulary, "commits");
    if (!is_one_of(commit.source, Source::taken_back))
      author.blame("commits from the unknown source {}", static_cast<int>(commit.source));
  }
  if (!is_one_of(verdict.why, Stop::unverified))
    author.blame("stops for the unknown reason {}", static_cast<int>(verdict.why));
  if (verdict.judged.size() > proposal.nodes.size())
    author.blame("judges {} of {} drafts", verdict.judged.size(), proposal.nodes.size());
  for (const Judged& judged : verdict.judged) {
    if (!is_unknown_or_probability(judged.accept))
      author.blame("accepts with probability {}", judged.accept);
    if (!is_unknown_or_probability(judged.target) || !is_unknown_or_probability(judged.drawn))
      author.blame("judges a draft of probability {}, drawn with {}", judged.target, judged.drawn);
    if (judged.vector.proposals < 0)
      author.blame("replaces a draft after {} draws", judged.vector.proposals);
  }
  if (verdict.carry && verdict.carry->unseen_commits < 0)
    author.blame("carries {} unseen commits", verdict.carry->unseen_commits);
}

void check_taken_back(const Author& unmasker, const Verdict& verdict, const Canvas& canvas,
                      bool late) {
  std::set<std::int32_t> seen;
  for (const Commit& commit : verdict.commits) seen.insert(commit.position);
  for (const Commit& token : verdict.taken_back) {
    if (token.position < 0 || token.position >= canvas.length() ||
        !canvas.tentative(token.position) || canvas.token(token.position) != token.token)
      unmasker.blame("takes back token {} at position {}, which is not tentative there",
                     token.token, token.position);
    if (!seen.insert(token.position).second)
      unmasker.blame("takes back position {} in the step that commits it, or twice",
                     token.position);
  }
  if (late && !verdict.taken_back.empty() && verdict.taken_back.size() >= verdict.commits.size())
    unmasker.blame("commits {} tokens in a step and takes {} back; decoding would not end",
                   verdict.commits.size(), verdict.taken_back.size());
}

void check_shown(const Author& unmasker, const Verdict& verdict, const Step& step, bool shows,
                 bool late) {
  if (!shows && !verdict.shown.empty())
    unmasker.blame("says what masked positions show, and does not say that it `shows`");
  OpenPositions open(unmasker, step.canvas, "shows a token at");
  for (const Commit& commit : verdict.commits) open.check(commit.position);
  for (const Commit& token : verdict.shown) {
    open.check(token.position);
    check_token(unmasker, token.token, step.vocabulary, "shows");
  }
  if (shows && late && verdict.commits.empty() && !step.window.positions.empty())
    unmasker.blame("commits nothing in step {}, when its schedule is over; decoding would not end",
                   step.clock);
}

void check_facts(const Author& model, const ModelFacts& facts) {
  if (facts.vocabulary < 1 && facts.dimension == 0)
    model.blame("has a vocabulary of {} tokens", facts.vocabulary);
  if (facts.dimension < 0 || facts.reverse_steps < 0)
    model.blame("draws vectors of {} coordinates in {} steps", facts.dimension,
                facts.reverse_steps);
  if (facts.longest < 0) model.blame("holds {} positions; 0 stands for any", facts.longest);
  if (facts.parameters < 0) model.blame("has {} parameters", facts.parameters);
  if (facts.dimension > 0) return;
  if (facts.mask < kNoToken || facts.mask >= facts.vocabulary)
    model.blame("has the mask token {} and a vocabulary of {}", facts.mask, facts.vocabulary);
  if (facts.random_canvas && facts.mask != kNoToken)
    model.blame("has the mask token {} and reads a random canvas, which has none", facts.mask);
  for (const Token stop : facts.stops)
    if (stop < 0 || stop >= facts.vocabulary)
      model.blame("ends a text with token {}, and its vocabulary has {}", stop, facts.vocabulary);
}

void check_same(const Author& model, const ModelFacts& before, const ModelFacts& now) {
  const auto differs = [&](const char* what) {
    model.blame("has another {} than when it was loaded", what);
  };
  if (now.vocabulary != before.vocabulary) differs("vocabulary");
  if (now.mask != before.mask || now.random_canvas != before.random_canvas) differs("mask token");
  if (now.stops != before.stops) differs("list of stops");
  if (now.longest != before.longest) differs("longest canvas");
  if (now.dimension != before.dimension || now.reverse_steps != before.reverse_steps)
    differs("kind of vectors");
  if (now.digest != before.digest || now.checkpoint != before.checkpoint) differs("checkpoint");
}

void check_answers(const Author& model, std::span<const Pending> batch, const ModelFacts& facts) {
  const auto check_cost = [&](std::int64_t cost, const char* what) {
    if (cost < 0 || cost > kMostComputed) model.blame("says that it computed {} {}", cost, what);
  };
  for (const Pending& pending : batch) {
    check_cost(pending.rows, "rows");
    check_cost(pending.positions, "positions");
    if (pending.answer->laws.size() != pending.question->reverse.size())
      model.blame("answers {} reverse steps by {} laws", pending.question->reverse.size(),
                  pending.answer->laws.size());
    if (facts.dimension > 0) continue;
    for (const Ask& ask : pending.question->asks)
      for (const std::int32_t position : ask.positions) {
        const Distribution* const law = pending.answer->find(ask.node, position);
        if (!law) model.blame("does not answer position {}, which was asked", position);
        if (law->size() != facts.vocabulary)
          model.blame("answers position {} by {} tokens of a vocabulary of {}", position,
                      law->size(), facts.vocabulary);
        if (model.plugin.empty()) continue;
        try {
          law->probability(0);
        } catch (const Error&) {
          model.blame("answers position {} with logits that are not numbers", position);
        }
      }
  }
}

void check_prompt(const Author& task, const Prompt& prompt) {
  const auto check = [&](Token token) {
    if (token < 0) task.blame("has token {} in prompt '{}'", token, prompt.id);
  };
  if (prompt.length < 1) task.blame("has a canvas of {} in prompt '{}'", prompt.length, prompt.id);
  std::set<std::int32_t> seen;
  for (const auto& [position, token] : prompt.given) {
    if (position < 0 || position >= prompt.length || !seen.insert(position).second)
      task.blame("gives position {} of a canvas of {} in prompt '{}', or gives it twice", position,
                 prompt.length, prompt.id);
    check(token);
  }
  for (const Token token : prompt.ends) check(token);
  for (const std::vector<Token>& choice : prompt.choices)
    for (const Token token : choice) check(token);
}

void check_scores(const Author& task, const std::vector<Score>& scores) {
  for (const Score& score : scores)
    if (std::isinf(score.value)) task.blame("scores a text by {} = {}", score.name, score.value);
}

double CheckedAcceptance::checked(double probability) const {
  if (!is_probability(probability)) author_.blame("accepts with probability {}", probability);
  return probability;
}

double CheckedAcceptance::probability(const Trial& trial) const {
  return checked(in_name_of(author_, [&] { return rule_.probability(trial); }));
}

Distribution CheckedAcceptance::replacement(const Trial& trial) const {
  Distribution law = in_name_of(author_, [&] { return rule_.replacement(trial); });
  if (!law.empty() && law.size() != trial.target.size())
    author_.blame("replaces a draft from {} tokens, and the vocabulary has {}", law.size(),
                  trial.target.size());
  return law;
}

double CheckedAcceptance::probability(double log_target, double log_drawn) const {
  return checked(in_name_of(author_, [&] { return rule_.probability(log_target, log_drawn); }));
}

double CheckedAcceptance::replaces(double log_target, double log_drawn) const {
  return checked(in_name_of(author_, [&] { return rule_.replaces(log_target, log_drawn); }));
}

}  // namespace draftlab
