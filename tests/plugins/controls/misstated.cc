#include <doctest/doctest.h>

#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;

// Drafts two levels behind the text a b a, whose positions are all answered by (.3, .3, .4).
struct Misstating : testing::ScriptedStep {
  Misstating() : testing::ScriptedStep(text()) {
    window = {.positions = {3, 4}, .span = 2};
    decode.draft_length = 2;
  }
  static Canvas text() {
    const std::vector<std::pair<std::int32_t, Token>> prompt = {{0, 0}, {1, 1}, {2, 0}};
    return Canvas(5, prompt);
  }
  Proposal propose(const std::string& options) {
    const auto drafter = testing::part(&Registries::drafters, "misstated", options);
    return run(drafter->propose(step()), {{3, of({.3, .3, .4})}, {4, of({.3, .3, .4})}});
  }
};

bool equals(const Distribution& law, const Distribution& other) {
  return (law.probabilities() - other.probabilities()).abs().maxCoeff() < 1e-12;
}

TEST_CASE("misstated: siblings without replacement claim the law of the first") {
  const Proposal proposal =
      Misstating().propose("of = model\nchildren = 3\nsiblings = different\n");
  REQUIRE(proposal.drawn_from.size() >= 3);
  for (int i = 0; i < 3; ++i) CHECK(equals(proposal.drawn_from[i], of({.3, .3, .4})));
  CHECK(proposal.nodes[0].token != proposal.nodes[1].token);
}

TEST_CASE("misstated: the likeliest tokens claim to be draws of the answer") {
  const Proposal proposal =
      Misstating().propose("of = dynamic-tree\nclaim = own-answer\nwidth = 2\nnodes = 4\n");
  REQUIRE(proposal.drawn_from.size() == 4);
  for (const Distribution& claim : proposal.drawn_from) CHECK(equals(claim, of({.3, .3, .4})));
  CHECK_THROWS_WITH_AS(Misstating().propose("of = prompt-lookup\nclaim = own-answer\n"),
                       doctest::Contains("which of = prompt-lookup does not"), ConfigError);
}

TEST_CASE("misstated: a looked-up token claims that any could have come") {
  const Proposal proposal =
      Misstating().propose("of = prompt-lookup\nclaim = uniform\nlongest = 1\n");
  REQUIRE(proposal.nodes.size() == 2);  // After a came b a.
  CHECK(proposal.nodes[0].token == 1);
  for (const Distribution& claim : proposal.drawn_from) CHECK(equals(claim, of({1, 1, 1})));
}

TEST_CASE("misstated: Eq. 23 as printed counts what stands before the left neighbour") {
  const Proposal proposal = Misstating().propose("of = ngram\nclaim = reversed-bigram\n");
  REQUIRE(proposal.nodes.size() == 2);
  // The left neighbour a follows b once; the drafted b follows a once.
  CHECK(equals(proposal.drawn_from[0], of({0, 1.001, 0})));
  CHECK(equals(proposal.drawn_from[1], of({1.001, 0, 0})));
}

TEST_CASE("misstated: what the target drew itself is not misstated, and vectors are refused") {
  Misstating step;
  step.window = {.positions = {3, 4}, .span = 2};
  const Proposal own = step.propose("of = prompt-lookup\nclaim = uniform\nshortest = 3\n");
  REQUIRE(own.exact == 1);  // No ending of three tokens occurs before.
  CHECK(equals(own.drawn_from[0], of({.3, .3, .4})));
  CHECK_THROWS_WITH_AS(testing::part(&Registries::drafters, "misstated", "of = diffusion\n"),
                       doctest::Contains("drafts vectors"), ConfigError);
}

}  // namespace
}  // namespace draftlab
