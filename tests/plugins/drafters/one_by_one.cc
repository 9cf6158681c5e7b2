#include <doctest/doctest.h>

#include "core/config/composition.h"
#include "core/parts/draft_length.h"
#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;

struct OneByOne : testing::ScriptedStep {
  OneByOne() : testing::ScriptedStep(committed()) {
    window = {.positions = {1, 2, 3}, .span = 3};
    decode.draft_length = 2;
  }
  static Canvas committed() {
    Canvas canvas(4, {});
    canvas.commit(0, 1);
    return canvas;
  }
  Proposal propose(const std::string& name, const std::string& options,
                   const Distribution& everywhere) {
    chance = SampledChance(1);  // A proposal of its own, not the next of one decode.
    const auto drafter = testing::part(&Registries::drafters, name, options);
    return run(drafter->propose(step()), {{1, everywhere}, {2, everywhere}, {3, everywhere}});
  }
};

TEST_CASE(
    "a draft model is asked token after token, and each draft carries what it was drawn from") {
  OneByOne drafting;
  const Proposal proposal = drafting.propose("model", "", of({.3, .3, .4}));
  CHECK(drafting.mailbox.model == 1);
  REQUIRE(drafting.asked);
  CHECK_FALSE(drafting.asked->shallow);
  CHECK(drafting.asked->nodes.size() == 1);  // The second question, at the first draft.
  CHECK(drafting.asked->asks[0].node == 0);
  CHECK(drafting.asked->asks[0].positions == std::vector<std::int32_t>{2});
  REQUIRE(proposal.nodes.size() == 2);
  CHECK(proposal.nodes[1].parent == 0);
  CHECK(proposal.exact == 0);
  CHECK(proposal.drawn_from[1].probability(2) == doctest::Approx(.4));
}

TEST_CASE("the target is asked shallowly the same") {
  OneByOne drafting;
  CHECK(drafting.propose("shallow", "", of({.3, .3, .4})).nodes.size() == 2);
  CHECK(drafting.mailbox.model == 0);
  CHECK(drafting.asked->shallow);
  CHECK(drafting.asked->form() == Form::shallow);
}

// With fewer questions: the loop cuts what other drafters have drafted in vain.
TEST_CASE("nothing is asked behind an improbable token, or where the drafter is not sure") {
  OneByOne drafting;
  DecodeOptions options;
  options.draft_stop = 0.5;
  const auto propose = [&](DraftRule rule, const Distribution& everywhere) {
    options.draft_rule = rule;
    const DraftLength length(options);
    drafting.length = &length;
    return drafting.propose("model", "", everywhere);
  };
  CHECK(propose(DraftRule::likely, of({.3, .3, .4})).nodes.size() == 1);
  CHECK(drafting.asked->nodes.empty());
  CHECK(propose(DraftRule::likely, of({0, 0, 1})).nodes.size() == 2);
  // The bound is 1 - sqrt(.2 H) = .533.
  CHECK(propose(DraftRule::sure, of({.4, .3, .3})).nodes.size() == 2);
  options.draft_stop = 0.6;
  CHECK(propose(DraftRule::sure, of({.4, .3, .3})).nodes.size() == 1);
}

TEST_CASE("several drafts a node, level by level") {
  OneByOne drafting;
  const Proposal proposal = drafting.propose("model", "children = 3\n", of({.3, .3, .4}));
  REQUIRE(proposal.nodes.size() == 3 + 9);
  CHECK(drafting.asked->asks.size() == 3);
  CHECK(drafting.asked->leaves() == 3);
  for (int i = 0; i < 3; ++i) CHECK(proposal.nodes[i].parent == kRoot);
  for (int i = 3; i < 12; ++i) CHECK(proposal.nodes[i].parent == (i - 3) / 3);
  CHECK(OneByOne().propose("model", "children = 2\nwide = 1\n", of({.3, .3, .4})).nodes.size() ==
        2 + 2);
}

TEST_CASE("a drafter that asks a draft model is refused where none is named") {
  Registries registries;
  register_builtin_plugins(registries);
  Diagnostics diagnostics;
  compose(Config::parse("model = table\ntask = positions\ndrafter = model\n", "a.ini", diagnostics),
          registries, diagnostics);
  CHECK_THROWS_WITH_AS(
      diagnostics.raise(),
      doctest::Contains("drafter 'model' asks a draft model; write model.draft = NAME"),
      ConfigError);
}

TEST_CASE("siblings without replacement: each carries the law that the others were struck out of") {
  OneByOne drafting;
  drafting.decode.draft_length = 1;
  const std::string options = "children = 4\nsiblings = different\n";
  const Proposal proposal = drafting.propose("model", options, of({.2, .5, .3}));
  REQUIRE(proposal.nodes.size() == 3);  // There is no fourth token.
  CHECK(proposal.drawn_from[0].probability(1) == doctest::Approx(.5));
  double left = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const Token token = proposal.nodes[i].token;
    const double q = of({.2, .5, .3}).probability(token);
    CHECK(proposal.drawn_from[i].probability(token) == doctest::Approx(q / left));
    for (std::size_t j = 0; j < i; ++j)
      CHECK(proposal.drawn_from[i].probability(proposal.nodes[j].token) == 0);
    left -= q;
  }
}

TEST_CASE("greedy siblings: one draw beside the likeliest tokens, and it stands first") {
  OneByOne drafting;
  drafting.decode.draft_length = 1;
  const std::string options = "children = 2\nsiblings = greedy\n";
  const Proposal proposal = drafting.propose("model", options, of({.2, .5, .3}));
  REQUIRE(proposal.nodes.size() == 2);
  CHECK(proposal.drawn_from[0].probability(0) == doctest::Approx(.4));
  CHECK(proposal.drawn_from[0].probability(1) == 0);
  CHECK(proposal.nodes[1].token == 1);
  CHECK(proposal.drawn_from[1].probability(1) == 1);
  const Proposal certain = drafting.propose("model", options, of({0, 1, 0}));
  REQUIRE(certain.nodes.size() == 1);  // No other token can be drawn.
  CHECK(certain.nodes[0].token == 1);
}

TEST_CASE("a shape says how many drafts each node has, level by level") {
  OneByOne drafting;
  drafting.decode.draft_length = 3;
  const Proposal proposal = drafting.propose("model", "shape = 2 0 2 1\n", of({.3, .3, .4}));
  REQUIRE(proposal.nodes.size() == 5);
  CHECK(proposal.nodes[0].parent == kRoot);
  CHECK(proposal.nodes[1].parent == kRoot);
  CHECK(proposal.nodes[2].parent == 1);
  CHECK(proposal.nodes[3].parent == 1);
  CHECK(proposal.nodes[4].parent == 2);
  CHECK(proposal.nodes[4].position == 3);
  drafting.decode.draft_length = 2;
  CHECK(drafting.propose("model", "shape = 2 0 2 1\n", of({.3, .3, .4})).nodes.size() == 4);
}

TEST_CASE("shapes that are none are refused") {
  for (const std::string shape : {"2 x", "0", "1 1 0 0", "65", "-1"}) {
    CAPTURE(shape);
    CHECK_THROWS_AS(testing::part(&Registries::drafters, "model", "shape = " + shape + "\n"),
                    ConfigError);
  }
  CHECK_THROWS_WITH_AS(testing::part(&Registries::drafters, "model", "shape = 2 1\nchildren = 2\n"),
                       doctest::Contains("children and wide must not be set"), ConfigError);
}

}  // namespace
}  // namespace draftlab
