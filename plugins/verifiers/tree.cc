// Verification trees of a masked-diffusion model (SSD, Sec. 3.2.3). Every node is a state with some
// drafts in place and one row of one forward, and makes its own choice by the rule of stepwise
// decoding, that is by the arm's frontier and unmasker. The walk goes on while a child holds that
// choice, and where it stops the choice is committed too. So what is committed is what stepwise
// decoding commits, at any temperature, whatever was drafted.
#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "core/parts/verifier.h"
#include "plugins/verifiers/branches.h"

namespace draftlab {
namespace {

// Which of the drafts' paths are nodes.
enum class Shape { chain, mix_order, top_k };
constexpr std::array<std::string_view, 3> words(Shape) { return {"chain", "mix-order", "top-k"}; }
// When a child holds its node's choice.
enum class Match { position_and_token, token };
constexpr std::array<std::string_view, 2> words(Match) { return {"position-and-token", "token"}; }
// Who draws the token of a node's choice.
enum class Draws { own, ratio };
constexpr std::array<std::string_view, 2> words(Draws) { return {"own", "ratio"}; }

class Tree final : public Verifier {
 public:
  struct Options {
    Shape shape = Shape::chain;
    Match match = Match::position_and_token;
    Draws draws = Draws::own;
    bool joined = false;
    std::int64_t top_k = 2, budget = 64;
    void declare(OptionSet& set) {
      set.add("shape", &shape)
          .help(
              "A path of the drafts as they were drafted, N + 1 nodes with the root (the paper's "
              "greedy tree); that path with the draft after next at each of them, 2N nodes; or the "
              "most probable paths over each draft's top_k tokens.");
      set.add("top_k", &top_k).in(1, 64).help("Tokens tried at a position, with shape = top-k.");
      set.add("budget", &budget)
          .in(2, 4096)
          .help(
              "Most nodes of a top-k tree, its root included: the most probable paths by the "
              "drafter's distributions.");
      set.add("joined", &joined)
          .help(
              "The walk goes on to any node that holds the choice, whatever the order in which its "
              "path was drafted (Spiffy's graph of states): more of it fits into the same rows.");
      set.add("match", &match)
          .help(
              "A child is right if the node's own choice is its position and its token; or if the "
              "token drawn at its position is, whatever position the node would choose (not "
              "lossless).");
      set.add("draws", &draws)
          .help(
              "A node draws its choice's token itself; or the acceptance rule tests the draft at "
              "the position that it chose. That is lossless only where positions are chosen before "
              "tokens are drawn (unmasker.static.order = peak) and drafts are not sorted by what "
              "was drawn.");
    }
  };
  explicit Tree(const Options& options) : options_(options) {}
  std::vector<Form> asks() const override { return {Form::committed, Form::branches}; }
  std::vector<DecodeKey> reads() const override { return {DecodeKey::steps}; }

  void begin(const Blocks&, const DecodeOptions& decode) override {
    if (decode.steps > 0)
      throw ConfigError(
          "verifier = tree applies the unmasker to states that are not committed, where steps "
          "cannot be counted; decode.steps = {} must be 0",
          decode.steps);
    if (decode.shadow == Shadow::observe)
      throw ConfigError(
          "verifier = tree draws the very numbers that unverified decoding would draw, so it "
          "cannot observe only; decode.shadow must not be observe");
  }

  Asking<Verdict> judge(const Step& step, const Proposal& proposal,
                        const Acceptance& acceptance) const override {
    const int horizon = step.target.horizon();
    Walk walk{options_, step, proposal, acceptance, horizon, grow(proposal, horizon)};
    if (options_.joined) walk.branches.join();
    walk.accept_exact();
    if (proposal.exact == static_cast<int>(proposal.nodes.size()) || proposal.exact > horizon) {
      if (proposal.lookahead > 0 && !proposal.root_answer.empty())
        walk.verdict.carry = Carry{proposal.root_answer, kRoot, proposal.exact};
      co_return std::move(walk.verdict);
    }
    Question question = walk.question();
    const std::vector<Ask> asks = question.asks;
    walk.answer = co_await step.ask(std::move(question));
    walk.along();
    if (proposal.lookahead > 0 && !step.frontier->done(walk.state)) walk.carry(asks);
    co_return std::move(walk.verdict);
  }

 private:
  // Builds the tree over the proposal's drafts, in their order.
  Branches grow(const Proposal& proposal, int horizon) const {
    const int deep = std::min(static_cast<int>(proposal.nodes.size()), horizon);
    if (options_.shape == Shape::mix_order) return mix_order(proposal, deep);
    if (options_.shape == Shape::top_k)
      return most_probable(proposal, deep, options_.top_k, options_.budget);
    return as_drafted(proposal, deep);
  }

  // One judging: where it stands in the tree, and what it decided.
  struct Walk {
    const Options& options;
    const Step& step;
    const Proposal& proposal;
    const Acceptance& acceptance;
    int horizon;
    Branches branches;
    Answer answer = {};
    Canvas state = step.canvas;
    // The node where all exact drafts are in place. Nodes above it are known already and not asked.
    int node = proposal.exact - 1, unseen_commits = 0;
    Verdict verdict = {
        .commits = {},
        .edits = {},
        .why = Stop::complete,
        .carry = {},
        .judged = std::vector<Judged>(proposal.nodes.size(),
                                      {kNotMeasured, kNotMeasured, kNotMeasured, false, false})};

    void accept_exact() {
      for (int i = 0; i < proposal.exact; ++i) {
        const Node& draft = proposal.nodes[i];
        const double q = drawn(i);
        verdict.judged[i] = {q, q, 1, true};
        verdict.commits.push_back(commit_of(draft, Source::accepted));
        state.commit(draft.position, draft.token);
      }
    }

    Question question() const {
      Question question{.kind = branches.nodes.empty() ? Kind::draft : Kind::verify,
                        .view = View::bidirectional,
                        .nodes = branches.nodes,
                        .asks = {}};
      for (int at = node; at < static_cast<int>(branches.nodes.size()); ++at) {
        std::vector<std::int32_t> positions = asked(at);
        if (!positions.empty()) question.asks.push_back({at, std::move(positions)});
      }
      return question;
    }

    // Goes on while a child holds the node's choice, and commits the last choice too.
    void along() {
      while (!step.frontier->done(state)) {
        const std::vector<Commit> choice = own();
        if (choice.empty())
          throw Fault(
              "the unmasker chooses nothing in a state that verifier = tree reached; the walk "
              "cannot go on");
        const int next = branches.follow(node, choice);
        judge_children(choice);
        const bool leaf = branches.children(node).empty();
        for (const Commit& commit : choice) {
          state.commit(commit.position, commit.token);
          verdict.commits.push_back({commit.position, commit.token,
                                     next != Branches::kNone ? Source::accepted
                                     : leaf                  ? Source::bonus
                                                             : Source::resampled});
        }
        if (next == Branches::kNone) {
          verdict.why = stopped(choice);
          unseen_commits = static_cast<int>(choice.size());
          return;
        }
        node = next;
      }
    }

    // Hands what was answered at the last node over to the next step.
    void carry(const std::vector<Ask>& asks) {
      Carry carry{.answer = {}, .node = kRoot, .unseen_commits = unseen_commits};
      for (const Ask& ask : asks) {
        for (const std::int32_t position : ask.positions)
          if (ask.node == node && state.masked(position))
            carry.answer.add(kRoot, position, answer.at(node, position));
      }
      verdict.carry = std::move(carry);
    }

    // Returns the positions that a node's choice depends on. Where the next drafts come from its
    // answer, the positions that those need are added; they may go no deeper than the cache allows.
    std::vector<std::int32_t> asked(int at) const {
      const int left = horizon - branches.depth_of(at);
      std::vector<std::int32_t> positions = step.ahead(
          branches.state_at(step.canvas, at), std::max(1, std::min(proposal.lookahead, left)));
      if (options.match == Match::token && !branches.children(at).empty()) {
        const std::int32_t position = placed(at, branches.children(at).front()).position;
        if (!std::count(positions.begin(), positions.end(), position))
          positions.push_back(position);
      }
      return positions;
    }

    // Returns what the node commits by its own choice.
    std::vector<Commit> own() const {
      const std::vector<int>& children = branches.children(node);
      if (options.match == Match::token && !children.empty()) {
        const std::int32_t position = placed(node, children.front()).position;
        return {{position, step.chance.draw(step.drawn(answer.at(node, position)),
                                            step.choice(state, position))}};
      }
      std::vector<Commit> choice = step.stepwise(state, answer, node);
      if (options.draws == Draws::own) return choice;
      for (Commit& commit : choice) {
        const int child = child_at(commit.position);
        if (child == Branches::kNone) continue;
        const Distribution target = step.drawn(answer.at(node, commit.position));
        const Trial trial = trial_of(child, target);
        if (step.chance.below(acceptance.probability(trial),
                              step.site(commit.position, Purpose::accept))) {
          commit.token = trial.token;
        } else if (const Distribution replacement = acceptance.replacement(trial);
                   !replacement.empty()) {
          commit.token =
              step.chance.draw(replacement, step.site(commit.position, Purpose::residual));
        }
      }
      return choice;
    }

    // Judges the drafts that stand below the node: a draft is right where the node's choice
    // contains it.
    void judge_children(const std::vector<Commit>& choice) {
      std::vector<std::pair<int, int>> open;  // A node, and one of its children.
      for (const int child : branches.children(node)) open.emplace_back(node, child);
      for (std::size_t at = 0; at < open.size(); ++at) {
        const auto [parent, below] = open[at];
        const Node& child = placed(parent, below);
        const int draft = branches.draft[branches.placed(parent, below)];
        const Token token = proposal.nodes[draft].token;
        Judged& judged = verdict.judged[draft];
        const auto chosen = std::find_if(choice.begin(), choice.end(), [&](const Commit& c) {
          return c.position == child.position;
        });
        const Distribution* const known = answer.find(node, child.position);
        judged.target = known ? step.drawn(*known).probability(token) : kNotMeasured;
        judged.drawn = drawn(draft);
        // Given the positions that the node chose, and none of the tokens that it drew there.
        judged.accept = chosen == choice.end() ? 0 : held(step.drawn(*known), draft);
        judged.accepted = chosen != choice.end() && chosen->token == token;
        judged.reached = true;
        if (judged.accepted && choice.size() > 1)
          for (const int next : branches.children(below)) open.emplace_back(below, next);
      }
    }

    // Returns the probability with which the node's choice at a draft's position is the draft,
    // where `law` is the node's law there.
    double held(const Distribution& law, int draft) const {
      const Node& drafted = proposal.nodes[draft];
      const int child = child_at(drafted.position);
      if (options.draws == Draws::own || options.match == Match::token || child == Branches::kNone)
        return law.probability(drafted.token);
      // The acceptance rule tests the first child at the position, and replaces its token.
      const Trial trial = trial_of(child, law);
      const double kept = acceptance.probability(trial);
      const Distribution replacement = acceptance.replacement(trial);
      const double replaced = (replacement.empty() ? law : replacement).probability(drafted.token);
      return (trial.token == drafted.token ? kept : 0) + (1 - kept) * replaced;
    }

    Stop stopped(const std::vector<Commit>& choice) const {
      if (branches.children(node).empty())
        return branches.depth_of(node) >= horizon ? Stop::cache_refresh : Stop::complete;
      const bool there = std::any_of(choice.begin(), choice.end(), [&](const Commit& commit) {
        return child_at(commit.position) != Branches::kNone;
      });
      return there ? Stop::wrong_token : Stop::wrong_order;
    }

    const Node& placed(int parent, int child) const {
      return branches.nodes[branches.placed(parent, child)];
    }
    // Returns the node's first child at a position, or kNone.
    int child_at(std::int32_t position) const {
      for (const int child : branches.children(node))
        if (placed(node, child).position == position) return child;
      return Branches::kNone;
    }
    Trial trial_of(int child, const Distribution& target) const {
      const int draft = branches.draft[branches.placed(node, child)];
      return {placed(node, child).token, target,
              proposal.drawn_from.empty() ? nullptr : &proposal.drawn_from[draft], draft};
    }
    double drawn(int draft) const {
      return proposal.drawn_from.empty()
                 ? 1.0
                 : proposal.drawn_from[draft].probability(proposal.nodes[draft].token);
    }
  };

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(verifier, tree) {
  registries.verifiers.add<draftlab::Tree>("tree",
                                           "every node of a tree of drafts makes its own stepwise "
                                           "choice; the walk goes on while a child holds it (SSD)");
}
