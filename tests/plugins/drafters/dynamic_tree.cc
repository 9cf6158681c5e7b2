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

}  // namespace
}  // namespace draftlab
