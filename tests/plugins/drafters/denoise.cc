#include <doctest/doctest.h>

#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;
using Positions = std::vector<std::int32_t>;

std::unique_ptr<Drafter> denoise(const std::string& options = "") {
  return testing::part(&Registries::drafters, "denoise", options);
}

// Four positions, 0 is committed; the block of four is drafted.
testing::ScriptedStep block(bool tentative = false) {
  Canvas canvas(4, {});
  canvas.commit(0, 1, tentative);
  testing::ScriptedStep scripted(canvas);
  scripted.window = {.positions = {1, 2, 3}, .span = 3};
  scripted.blocks = {.size = 4, .origin = 0};
  return scripted;
}

TEST_CASE("every mask of the window is drawn from one bidirectional forward") {
  testing::ScriptedStep scripted = block();
  scripted.decode.sampling.temperature = 0.5;
  const auto drafter = denoise();
  const Proposal proposal =
      scripted.run(drafter->propose(scripted.step()),
                   {{1, of({.5, .3, .2})}, {2, of({0, 0, 1})}, {3, of({0, 1, 0})}});
  REQUIRE(scripted.asked);
  CHECK(scripted.asked->view == View::bidirectional);
  CHECK(scripted.asked->form() == Form::committed);
  CHECK(scripted.asked->asks.front().positions == Positions{1, 2, 3});
  REQUIRE(proposal.nodes.size() == 3);
  CHECK(proposal.nodes[1].token == 2);
  CHECK(proposal.nodes[2].token == 1);
  CHECK(proposal.raw[0].probability(0) == doctest::Approx(.5));
  CHECK(proposal.drawn_from[0].probability(0) ==
        doctest::Approx(.25 / .38));  // Squares: .25, .09, .04.
  CHECK(proposal.exact == 0);
  CHECK(proposal.edits.empty());
}

TEST_CASE(
    "in a block of one the draft is the target's own draw; a lone mask of a larger block is not") {
  testing::ScriptedStep scripted = block();
  scripted.window = {.positions = {3}, .span = 1};
  const auto drafter = denoise();
  CHECK(scripted.run(drafter->propose(scripted.step()), {{3, of({1, 1, 1})}}).exact == 0);
  testing::ScriptedStep alone = block();
  alone.window = {.positions = {3}, .span = 1};
  alone.blocks.size = 1;
  CHECK(alone.run(drafter->propose(alone.step()), {{3, of({1, 1, 1})}}).exact == 1);
  testing::ScriptedStep greedy = block();
  greedy.window = alone.window;
  greedy.blocks.size = 1;
  CHECK(greedy.run(denoise("greedy = true")->propose(greedy.step()), {{3, of({1, 1, 1})}}).exact ==
        1);  // What it claims is what the target has.
}

TEST_CASE("greedy takes the most probable token and claims the distribution") {
  testing::ScriptedStep scripted = block();
  const Proposal proposal =
      scripted.run(denoise("greedy = true")->propose(scripted.step()),
                   {{1, of({.2, .3, .5})}, {2, of({.4, .3, .3})}, {3, of({.1, .8, .1})}});
  CHECK(proposal.nodes[0].token == 2);
  CHECK(proposal.nodes[1].token == 0);
  CHECK(proposal.nodes[2].token == 1);
  CHECK(proposal.drawn_from[0].probability(2) == doctest::Approx(.5));
}

TEST_CASE("what came along with a commit is proposed alone, without asking") {
  testing::ScriptedStep scripted = block();
  scripted.carry.emplace();
  scripted.carry->answer.add(kRoot, 1, of({0, 0, 1}));
  const auto drafter = denoise();
  const Proposal proposal =
      scripted.run(drafter->propose(scripted.step()), std::map<std::int32_t, Distribution>{});
  CHECK_FALSE(scripted.asked);
  REQUIRE(proposal.nodes.size() == 1);
  CHECK(proposal.nodes[0].position == 1);
  CHECK(proposal.nodes[0].token == 2);
  CHECK(proposal.exact == 1);

  testing::ScriptedStep later = block();  // The answer is of another position, so it is of no use.
  later.carry.emplace();
  later.carry->answer.add(kRoot, 2, of({0, 0, 1}));
  CHECK(later
            .run(drafter->propose(later.step()),
                 {{1, of({1, 1, 1})}, {2, of({1, 1, 1})}, {3, of({1, 1, 1})}})
            .nodes.size() == 3);
}

TEST_CASE("a tentative token is edited where another is more probable than tau_edit") {
  const std::map<std::int32_t, Distribution> rest{
      {1, of({1, 1, 1})}, {2, of({1, 1, 1})}, {3, of({1, 1, 1})}};
  const auto edits = [&](const Distribution& now, bool tentative) {
    testing::ScriptedStep scripted = block(tentative);
    scripted.decode.edit_threshold = 0.7;
    auto answers = rest;
    answers.emplace(0, now);
    const auto drafter = denoise();
    return scripted.run(drafter->propose(scripted.step()), answers).edits;
  };
  const auto made = edits(of({.75, .25, 0}), true);
  REQUIRE(made.size() == 1);
  CHECK(made[0].position == 0);
  CHECK(made[0].token == 0);
  CHECK(made[0].source == Source::edited);
  CHECK(edits(of({.69, .31, 0}), true).empty());   // Not sure enough.
  CHECK(edits(of({.25, .75, 0}), true).empty());   // The same token.
  CHECK(edits(of({.75, .25, 0}), false).empty());  // This position is final.
}

TEST_CASE("a block without masks is asked for its edits alone") {
  Canvas canvas(2, {});
  canvas.commit(0, 1, true);
  canvas.commit(1, 1, true);
  testing::ScriptedStep scripted(canvas);
  scripted.blocks = {.size = 2, .origin = 0};
  scripted.decode.edit_threshold = 0.5;
  const auto drafter = denoise();
  const Proposal proposal =
      scripted.run(drafter->propose(scripted.step()), {{0, of({.6, .4, 0})}, {1, of({0, 1, 0})}});
  CHECK(proposal.nodes.empty());
  CHECK(proposal.edits.size() == 1);
}

}  // namespace
}  // namespace draftlab
