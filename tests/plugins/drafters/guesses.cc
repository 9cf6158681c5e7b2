// Drafters jacobi and synthetic.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;

struct Drafting : testing::ScriptedStep {
  Drafting() : testing::ScriptedStep(committed()) {
    window = {.positions = {1, 2, 3}, .span = 3};
    decode.draft_length = 2;
  }
  static Canvas committed() {
    Canvas canvas(4, {});
    canvas.commit(0, 1);
    return canvas;
  }
  Proposal propose(const std::string& name, const std::string& options,
                   const std::map<std::int32_t, Distribution>& answers) {
    chance = SampledChance(1);  // A proposal of its own, not the next of one decode.
    const auto drafter = testing::part(&Registries::drafters, name, options);
    return run(drafter->propose(step()), answers);
  }
};

TEST_CASE(
    "Jacobi's first guess repeats the last token; the next ones are the last verification's own "
    "predictions") {
  Drafting drafting;
  Proposal proposal = drafting.propose("jacobi", "", {});
  REQUIRE(proposal.nodes.size() == 2);
  CHECK(proposal.nodes[0].token == 1);
  CHECK(proposal.nodes[1].token == 1);
  CHECK(proposal.drawn_from.empty());
  CHECK(proposal.lookahead == 1);

  // Drafts at 0 and 1 were judged at the root; position 0 was replaced, so position 1 was predicted
  // at the wrong guess, node 0.
  Carry carry{{}, kRoot, 1};
  carry.answer.add(kRoot, 0, of({1, 0, 0}));
  carry.answer.add(0, 1, of({0, 0, 1}));
  drafting.carry = carry;
  proposal = drafting.propose("jacobi", "", {});
  CHECK(proposal.nodes[0].token == 2);
  CHECK(proposal.nodes[1].token == 2);  // Beyond what was predicted, the guess goes on.
}

TEST_CASE("synthetic drafts overlap with the target by exactly alpha") {
  Drafting drafting;
  const Distribution p = of({.5, .3, .2});
  const Proposal proposal = drafting.propose("synthetic", "alpha = 0.6\n", {{1, p}, {2, p}});
  CHECK(drafting.asked->kind == Kind::aux);  // A look, no forward.
  CHECK(drafting.asked->nodes.size() == 1);
  REQUIRE(proposal.drawn_from.size() == 2);
  const Distribution& q = proposal.drawn_from[0];  // Half of p, and the other half on token 2.
  CHECK(q.probability(0) == doctest::Approx(.25));
  CHECK(q.probability(1) == doctest::Approx(.15));
  CHECK(q.probability(2) == doctest::Approx(.6));
  double overlap = 0;
  for (Token token = 0; token < 3; ++token)
    overlap += std::min(p.probability(token), q.probability(token));
  CHECK(overlap == doctest::Approx(.6));
  CHECK(
      drafting.propose("synthetic", "alpha = 1\n", {{1, p}, {2, p}}).drawn_from[0].probability(2) ==
      doctest::Approx(.2));
  CHECK_THROWS_AS(drafting.propose("synthetic", "alpha = 0.1\n", {{1, p}, {2, p}}), ConfigError);
}

}  // namespace
}  // namespace draftlab
