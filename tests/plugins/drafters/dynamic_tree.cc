#include <doctest/doctest.h>

#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;

// Behind the root a has .6 and b .3; aa has .5 and ab .3 of a, ba has .9 and bb .05 of b.
Proposal grown(const std::string& options, double ba = .9) {
  testing::ScriptedStep scripted(Canvas(2, {}));
  scripted.window = {.positions = {0, 1}, .span = 2};
  scripted.decode.draft_length = 2;
  const auto drafter = testing::part(&Registries::drafters, "dynamic-tree", options);
  Proposal proposal = scripted.run(drafter->propose(scripted.step()), [&](int node, std::int32_t) {
    if (node == kRoot) return of({.6, .3, .1});
    return scripted.asked->nodes[static_cast<std::size_t>(node)].token == 0
               ? of({.5, .3, .2})
               : of({ba, .05, .95 - ba});
  });
  const bool shallow = options.find("guide = shallow") != std::string::npos;
  CHECK(scripted.mailbox.model == (shallow ? 0 : 1));
  CHECK(scripted.asked->shallow == shallow);
  return proposal;
}

TEST_CASE("dynamic-tree: the best nodes by the product of probabilities, parents first") {
  const Proposal proposal = grown("width = 2\nnodes = 4\n");
  REQUIRE(proposal.nodes.size() == 4);
  CHECK(proposal.drawn_from.empty());
  const std::vector<std::pair<int, Token>> wanted = {{kRoot, 0}, {kRoot, 1}, {0, 0}, {1, 0}};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(proposal.nodes[i].parent == wanted[i].first);
    CHECK(proposal.nodes[i].token == wanted[i].second);
  }
  CHECK(proposal.raw[2].probability(0) == doctest::Approx(.5));
  // The path aa has .3 and comes before ba with .27.
  CHECK(grown("width = 2\nnodes = 3\n").nodes[2].parent == 0);
}

TEST_CASE("dynamic-tree: the target's shallow answers grow the same tree") {
  CHECK(grown("width = 2\nnodes = 3\nguide = shallow\n").nodes[2].parent == 0);
  using Forms = std::vector<Form>;
  const auto guided = [](const std::string& by) {
    return testing::part(&Registries::drafters, "dynamic-tree", "guide = " + by + "\n");
  };
  CHECK(guided("shallow")->asks() == Forms{Form::shallow, Form::committed});
  CHECK(guided("shallow")->asks_draft_model().empty());
  CHECK(guided("draft")->asks().empty());
  CHECK(guided("draft")->asks_draft_model() == Forms{Form::committed, Form::chain});
}

TEST_CASE("dynamic-tree: prediction heads are asked once, or the last verification was") {
  const auto drafter =
      testing::part(&Registries::drafters, "dynamic-tree", "guide = heads\nwidth = 2\nnodes = 4\n");
  CHECK(drafter->asks() == std::vector{Form::committed});
  CHECK(drafter->asks_draft_model().empty());
  testing::ScriptedStep scripted(Canvas(3, {}));
  scripted.window = {.positions = {0, 1, 2}, .span = 3};
  scripted.decode.draft_length = 2;
  const auto tokens = [](const Proposal& proposal) {
    std::vector<std::pair<int, Token>> of_nodes;
    for (const Node& node : proposal.nodes) of_nodes.emplace_back(node.parent, node.token);
    return of_nodes;
  };
  using Tree = std::vector<std::pair<int, Token>>;
  // All nodes of a level have one law: .6 * .7, .3 * .7 and .6 * .2 behind .6 and .3.
  const std::map<std::int32_t, Distribution> laws = {{0, of({.6, .3, .1})}, {1, of({.1, .2, .7})}};
  const Proposal asked = scripted.run(drafter->propose(scripted.step()), laws);
  REQUIRE(scripted.asked);
  CHECK(scripted.mailbox.model == 0);
  CHECK(scripted.asked->form() == Form::committed);
  CHECK(scripted.asked->asks.front().positions == std::vector<std::int32_t>{0, 1});
  CHECK(tokens(asked) == Tree{{kRoot, 0}, {kRoot, 1}, {0, 2}, {1, 2}});
  CHECK(asked.raw[3].probability(2) == doctest::Approx(.7));
  CHECK(asked.lookahead == 2);
  // What the verification answered behind its node 5 is taken as it is; here its second head is
  // left, of a token that was replaced, and nothing is asked.
  Answer answer;
  answer.add(5, 0, of({.2, .1, .7}));
  scripted.carry = Carry{.answer = answer, .node = 5, .unseen_commits = 1};
  const Proposal carried = scripted.run(drafter->propose(scripted.step()), laws);
  CHECK(!scripted.asked);
  CHECK(tokens(carried) == Tree{{kRoot, 2}, {kRoot, 0}});
}

TEST_CASE("dynamic-tree: a certain child comes after its parent") {
  // The path ba has .95 of .3.
  const Proposal proposal = grown("width = 3\nnodes = 2\n", 1 - 0.05 + 0);
  CHECK(proposal.nodes[0].parent == kRoot);
  const Proposal one = grown("width = 1\nnodes = 1\n");
  REQUIRE(one.nodes.size() == 1);
  CHECK(one.nodes[0].parent == kRoot);
}

// Two levels with the laws (.6, .3, .1) and (.1, .2, .7), told by one forward; behind 0 the draft
// model then says (.1, .8, .1), and behind 1 (.9, .05, .05).
struct Marginals : testing::ScriptedStep {
  std::vector<Question> questions;
  explicit Marginals(std::uint64_t seed = 1) : testing::ScriptedStep(Canvas(2, {})) {
    chance = SampledChance(seed);
    window = {.positions = {0, 1}, .span = 2};
    decode.draft_length = 2;
  }
  Proposal propose(const std::string& options) {
    const auto drafter =
        testing::part(&Registries::drafters, "dynamic-tree", "guide = at-once\n" + options);
    return run(drafter->propose(step()), [&](int node, std::int32_t position) {
      if (questions.empty() || questions.back().nodes.size() != asked->nodes.size())
        questions.push_back(*asked);
      if (node == kRoot) return position == 0 ? of({.6, .3, .1}) : of({.1, .2, .7});
      return asked->nodes[static_cast<std::size_t>(node)].token == 0 ? of({.1, .8, .1})
                                                                     : of({.9, .05, .05});
    });
  }
};

using Paths = std::vector<std::pair<int, Token>>;
Paths paths_of(const Proposal& proposal) {
  Paths paths;
  for (const Node& node : proposal.nodes) paths.emplace_back(node.parent, node.token);
  return paths;
}

TEST_CASE(
    "dynamic-tree: a diffusion model tells all levels at once, and their product is the tree") {
  Marginals step;
  const Proposal proposal = step.propose("width = 2\nnodes = 4\n");
  // .6, .3, .6 * .7 and .3 * .7; behind 0 the token 1 would have .6 * .2.
  CHECK(paths_of(proposal) == Paths{{kRoot, 0}, {kRoot, 1}, {0, 2}, {1, 2}});
  CHECK(proposal.drawn_from.empty());
  CHECK(proposal.lookahead == 0);
  CHECK(step.mailbox.model == 1);
  REQUIRE(step.questions.size() == 1);
  CHECK(step.questions[0].form() == Form::committed);
  CHECK(step.questions[0].view == View::bidirectional);
  CHECK(step.questions[0].asks.front().positions == std::vector<std::int32_t>{0, 1});
}

TEST_CASE("dynamic-tree: a correction grows the tree again from what follows its nodes") {
  Marginals step;
  const Proposal proposal = step.propose("width = 2\nnodes = 4\ncorrections = 1\n");
  // .6, .3, .6 * .8 and .3 * .9.
  CHECK(paths_of(proposal) == Paths{{kRoot, 0}, {kRoot, 1}, {0, 1}, {1, 0}});
  CHECK(proposal.raw[3].probability(0) == doctest::Approx(.9));
  REQUIRE(step.questions.size() == 2);
  // Nothing is asked behind the last level, and so its two nodes are not sent.
  CHECK(step.questions[1].form() == Form::branches);
  CHECK(step.questions[1].nodes.size() == 2);
  CHECK(step.questions[1].asks.size() == 2);

  // The first tree is 0 and 02, so 1 is not asked about and keeps the marginal: .3 * .7 is less
  // than .3, and .6 * .8 more.
  Marginals narrow;
  const Proposal two = narrow.propose("width = 2\nnodes = 2\ncorrections = 1\n");
  CHECK(paths_of(two) == Paths{{kRoot, 0}, {0, 1}});
  CHECK(narrow.questions[1].nodes.size() == 1);
  CHECK(Marginals().propose("width = 2\nnodes = 4\ncorrections = 9\n").nodes.size() == 4);
}

TEST_CASE("dynamic-tree: drawn tokens stand in the shape of the best ones, and siblings differ") {
  bool other = false;
  for (std::uint64_t seed = 1; seed < 30; ++seed) {
    const Proposal proposal = Marginals(seed).propose("width = 2\nnodes = 4\nchoice = drawn\n");
    REQUIRE(proposal.nodes.size() == 4);
    REQUIRE(proposal.drawn_from.size() == 4);
    const std::vector<int> parents = {kRoot, kRoot, 0, 1};
    for (std::size_t i = 0; i < 4; ++i) CHECK(proposal.nodes[i].parent == parents[i]);
    const Token first = proposal.nodes[0].token, second = proposal.nodes[1].token;
    CHECK(first != second);
    CHECK(proposal.drawn_from[0].probability(1) == doctest::Approx(.3));
    // The second draft is drawn from the law without the first.
    const double left = 1 - proposal.drawn_from[0].probability(first);
    CHECK(proposal.drawn_from[1].probability(first) == 0);
    CHECK(proposal.drawn_from[1].probability(second) ==
          doctest::Approx(proposal.drawn_from[0].probability(second) / left));
    for (const std::size_t i : {2, 3})
      CHECK(proposal.drawn_from[i].probability(2) == doctest::Approx(.7));
    other = other || first != 0;
  }
  CHECK(other);
  // At temperature 0 each law has one token, and the drafts behind the missing ones are missing.
  Marginals greedy;
  greedy.decode.sampling.temperature = 0;
  CHECK(paths_of(greedy.propose("width = 2\nnodes = 4\nchoice = drawn\n")) ==
        Paths{{kRoot, 0}, {0, 2}});
}

TEST_CASE("dynamic-tree: what cannot be corrected or drawn is refused") {
  const auto with = [](const std::string& options) {
    return testing::part(&Registries::drafters, "dynamic-tree", options);
  };
  CHECK_THROWS_WITH_AS(with("corrections = 1\n"), doctest::Contains("needs guide = at-once"),
                       ConfigError);
  CHECK_THROWS_WITH_AS(with("choice = drawn\n"), doctest::Contains("before anything is drawn"),
                       ConfigError);
  CHECK_THROWS_WITH_AS(with("guide = at-once\ncorrections = 1\nchoice = drawn\n"),
                       doctest::Contains("corrections = 0"), ConfigError);
  const auto corrected = with("guide = at-once\ncorrections = 1\n");
  CHECK(corrected->asks_draft_model() == std::vector{Form::committed, Form::branches});
  CHECK(with("guide = at-once\n")->asks_draft_model() == std::vector{Form::committed});
  CHECK(corrected->asks().empty());
}

}  // namespace
}  // namespace draftlab
