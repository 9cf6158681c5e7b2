// Drafts of a diffusion model beside a causal target: one question, to the draft model.
#include <doctest/doctest.h>

#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;

// Five positions, of which the first is committed, and drafts of at most three.
testing::ScriptedStep begun() {
  Canvas canvas(5, {});
  canvas.commit(0, 1);
  testing::ScriptedStep scripted(canvas);
  scripted.window = {.positions = {1, 2, 3, 4}, .span = 4};
  scripted.decode.draft_length = 3;
  return scripted;
}
const std::map<std::int32_t, Distribution> kLaws = {
    {1, of({.5, .3, .2})}, {2, of({0, 0, 1})}, {3, of({0, 1, 0})}};

TEST_CASE("at-once: the draft model fills the next masks from one bidirectional question") {
  testing::ScriptedStep scripted = begun();
  scripted.decode.sampling.temperature = 0.5;
  const auto drafter = testing::part(&Registries::drafters, "at-once");
  const Proposal proposal = scripted.run(drafter->propose(scripted.step()), kLaws);
  CHECK(scripted.mailbox.model == 1);
  REQUIRE(scripted.asked);
  CHECK(scripted.asked->view == View::bidirectional);
  CHECK(scripted.asked->form() == Form::committed);
  CHECK(scripted.asked->asks.front().positions == std::vector<std::int32_t>{1, 2, 3});
  REQUIRE(proposal.nodes.size() == 3);
  CHECK(proposal.nodes[2].parent == 1);
  CHECK(proposal.nodes[2].token == 1);
  REQUIRE(proposal.drawn_from.size() == 3);
  CHECK(proposal.drawn_from[0].probability(0) ==
        doctest::Approx(.25 / .38));  // Squares: .25, .09, .04.
  CHECK(proposal.raw[0].probability(0) == doctest::Approx(.5));
  CHECK(proposal.exact == 0);
  CHECK(drafter->asks().empty());
  CHECK(drafter->asks_draft_model() == std::vector{Form::committed});
}

TEST_CASE("at-once: the best tokens are point masses, at every temperature") {
  testing::ScriptedStep scripted = begun();
  scripted.decode.draft_length = 9;
  scripted.window = {.positions = {1, 2}, .span = 2};
  const auto drafter = testing::part(&Registries::drafters, "at-once", "choice = best");
  for (int step = 0; step < 20; ++step) {
    const Proposal proposal = scripted.run(drafter->propose(scripted.step()), kLaws);
    REQUIRE(proposal.nodes.size() == 2);
    CHECK(proposal.nodes[0].token == 0);
    CHECK(proposal.nodes[1].token == 2);
    CHECK(proposal.drawn_from.empty());
    CHECK(proposal.raw.size() == 2);
  }
}

}  // namespace
}  // namespace draftlab
