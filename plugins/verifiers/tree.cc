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
              "The drafts as they were drafted, on a path N + 1 nodes with the root (the paper's "
              "greedy tree); the path, and at each of them the draft after next, 2N nodes; or the "
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
          "cannot look on; decode.shadow must not be observe");
  }

  Asking<Verdict> judge(const Step& step, const Proposal& proposal,
                        const Acceptance& acceptance) const override {
    const int horizon = step.target.horizon();
    Branches branches = grow(proposal, horizon);
    if (options_.joined) branches.join();
    // The node where all exact drafts are in place. Nodes above it are known already and not asked.
    const int start = proposal.exact - 1;
    Verdict verdict{.commits = {}, .edits = {}, .why = Stop::complete, .carry = {}, .judged = {}};
    verdict.judged.assign(proposal.nodes.size(),
                          {kNotMeasured, kNotMeasured, kNotMeasured, false, false});
    Canvas state = step.canvas;
    for (int i = 0; i < proposal.exact; ++i) {
      const Node& node = proposal.nodes[i];
      const double q =
          proposal.drawn_from.empty() ? 1.0 : proposal.drawn_from[i].probability(node.token);
      verdict.judged[i] = {q, q, 1, true};
      verdict.commits.push_back(commit_of(node, Source::accepted));
      state.commit(node.position, node.token);
    }
    if (proposal.exact == static_cast<int>(proposal.nodes.size()) || proposal.exact > horizon) {
      if (proposal.lookahead > 0 && !proposal.root_answer.empty())
        verdict.carry = Carry{proposal.root_answer, kRoot, proposal.exact};
      co_return verdict;
    }

    Question question{.kind = branches.nodes.empty() ? Kind::draft : Kind::verify,
                      .view = View::bidirectional,
                      .nodes = branches.nodes,
                      .asks = {}};
    for (int node = start; node < static_cast<int>(branches.nodes.size()); ++node) {
      std::vector<std::int32_t> positions = asked(step, proposal, branches, node, horizon);
      if (!positions.empty()) question.asks.push_back({node, std::move(positions)});
    }
    const std::vector<Ask> asks = question.asks;
    const Answer answer = co_await step.ask(std::move(question));

    int node = start, unseen_commits = 0;
    while (!step.frontier->done(state)) {
      const std::vector<Commit> choice =
          own(step, proposal, branches, acceptance, state, answer, node);
      if (choice.empty())
        throw Fault(
            "the unmasker chooses nothing in a state that verifier = tree reached; the walk cannot "
            "go on");
      const int next = branches.follow(node, choice);
      judge_children(step, proposal, branches, acceptance, answer, node, choice, verdict);
      const bool leaf = branches.children(node).empty();
      for (const Commit& commit : choice) {
        state.commit(commit.position, commit.token);
        verdict.commits.push_back({commit.position, commit.token,
                                   next != Branches::kNone ? Source::accepted
                                   : leaf                  ? Source::bonus
                                                           : Source::resampled});
      }
      if (next == Branches::kNone) {
        verdict.why = stopped(branches, node, choice, horizon);
        unseen_commits = static_cast<int>(choice.size());
        break;
      }
      node = next;
    }
    if (proposal.lookahead > 0 && !step.frontier->done(state)) {
      Carry carry{.answer = {}, .node = kRoot, .unseen_commits = unseen_commits};
      for (const Ask& ask : asks) {
        for (const std::int32_t position : ask.positions)
          if (ask.node == node && state.masked(position))
            carry.answer.add(kRoot, position, answer.at(node, position));
      }
      verdict.carry = std::move(carry);
    }
    co_return verdict;
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

  // Returns the positions that the node's choice depends on. Where the next drafts come from its
  // answer, the positions that those need are added; they may go no deeper than the cache allows.
  std::vector<std::int32_t> asked(const Step& step, const Proposal& proposal,
                                  const Branches& branches, int node, int horizon) const {
    const int left = horizon - branches.depth_of(node);
    std::vector<std::int32_t> positions = step.ahead(
        branches.state_at(step.canvas, node), std::max(1, std::min(proposal.lookahead, left)));
    if (options_.match == Match::token && !branches.children(node).empty()) {
      const std::int32_t position =
          branches.nodes[branches.placed(node, branches.children(node).front())].position;
      if (!std::count(positions.begin(), positions.end(), position)) positions.push_back(position);
    }
    return positions;
  }

  // Returns what a node commits by its own choice.
  std::vector<Commit> own(const Step& step, const Proposal& proposal, const Branches& branches,
                          const Acceptance& acceptance, const Canvas& state, const Answer& answer,
                          int node) const {
    const std::vector<int>& children = branches.children(node);
    if (options_.match == Match::token && !children.empty()) {
      const std::int32_t position =
          branches.nodes[branches.placed(node, children.front())].position;
      return {{position, step.chance.draw(step.drawn(answer.at(node, position)),
                                          step.choice(state, position))}};
    }
    std::vector<Commit> choice = step.stepwise(state, answer, node);
    if (options_.draws == Draws::own) return choice;
    for (Commit& commit : choice) {
      const auto child = std::find_if(children.begin(), children.end(), [&](int c) {
        return branches.nodes[branches.placed(node, c)].position == commit.position;
      });
      if (child == children.end()) continue;
      const int placed = branches.placed(node, *child), draft = branches.draft[placed];
      const Distribution target = step.drawn(answer.at(node, commit.position));
      const Trial trial{branches.nodes[placed].token, target,
                        proposal.drawn_from.empty() ? nullptr : &proposal.drawn_from[draft], draft};
      if (step.chance.below(acceptance.probability(trial),
                            step.site(commit.position, Purpose::accept))) {
        commit.token = trial.token;
      } else if (const Distribution replacement = acceptance.replacement(trial);
                 !replacement.empty()) {
        commit.token = step.chance.draw(replacement, step.site(commit.position, Purpose::residual));
      }
    }
    return choice;
  }

  // Judges the drafts that stand below a node: a draft is right where the node's choice contains
  // it.
  void judge_children(const Step& step, const Proposal& proposal, const Branches& branches,
                      const Acceptance& acceptance, const Answer& answer, int node,
                      const std::vector<Commit>& choice, Verdict& verdict) const {
    std::vector<std::pair<int, int>> open;  // A node, and one of its children.
    for (const int child : branches.children(node)) open.emplace_back(node, child);
    for (std::size_t at = 0; at < open.size(); ++at) {
      const int placed = branches.placed(open[at].first, open[at].second);
      const Node& child = branches.nodes[placed];
      const int draft = branches.draft[placed];
      Judged& judged = verdict.judged[draft];
      const bool right = std::any_of(choice.begin(), choice.end(), [&](const Commit& c) {
        return c.position == child.position && c.token == proposal.nodes[draft].token;
      });
      const Distribution* const known = answer.find(node, child.position);
      judged.target =
          known ? step.drawn(*known).probability(proposal.nodes[draft].token) : kNotMeasured;
      judged.drawn = proposal.drawn_from.empty()
                         ? 1.0
                         : proposal.drawn_from[draft].probability(proposal.nodes[draft].token);
      // Given the positions that the node chose, and none of the tokens that it drew there.
      const bool chosen = std::any_of(choice.begin(), choice.end(), [&](const Commit& c) {
        return c.position == child.position;
      });
      judged.accept =
          chosen ? held(proposal, branches, acceptance, step.drawn(*known), node, draft) : 0;
      judged.accepted = right;
      judged.reached = true;
      if (right && choice.size() > 1)
        for (const int next : branches.children(open[at].second))
          open.emplace_back(open[at].second, next);
    }
  }

  // Returns the probability with which a node's choice at a draft's position is the draft, where
  // `law` is the node's law there.
  double held(const Proposal& proposal, const Branches& branches, const Acceptance& acceptance,
              const Distribution& law, int node, int draft) const {
    const Node& drafted = proposal.nodes[draft];
    const std::vector<int>& children = branches.children(node);
    const auto child = std::find_if(children.begin(), children.end(), [&](int c) {
      return branches.nodes[branches.placed(node, c)].position == drafted.position;
    });
    if (options_.draws == Draws::own || options_.match == Match::token || child == children.end())
      return law.probability(drafted.token);
    // The acceptance rule tests the first child at the position, and replaces its token.
    const int placed = branches.placed(node, *child), tested = branches.draft[placed];
    const Trial trial{branches.nodes[placed].token, law,
                      proposal.drawn_from.empty() ? nullptr : &proposal.drawn_from[tested], tested};
    const double kept = acceptance.probability(trial);
    const Distribution replacement = acceptance.replacement(trial);
    const double replaced = (replacement.empty() ? law : replacement).probability(drafted.token);
    return (trial.token == drafted.token ? kept : 0) + (1 - kept) * replaced;
  }

  static Stop stopped(const Branches& branches, int node, const std::vector<Commit>& choice,
                      int horizon) {
    const std::vector<int>& children = branches.children(node);
    if (children.empty())
      return branches.depth_of(node) >= horizon ? Stop::cache_refresh : Stop::complete;
    const bool there = std::any_of(children.begin(), children.end(), [&](int child) {
      return std::any_of(choice.begin(), choice.end(), [&](const Commit& commit) {
        return commit.position == branches.nodes[branches.placed(node, child)].position;
      });
    });
    return there ? Stop::wrong_token : Stop::wrong_order;
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(verifier, tree) {
  registries.verifiers.add<draftlab::Tree>("tree",
                                           "every node of a tree of drafts makes its own stepwise "
                                           "choice; the walk goes on while a child holds it (SSD)");
}
