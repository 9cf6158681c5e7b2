#include <doctest/doctest.h>

#include "core/model/refreshed.h"
#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;
using Positions = std::vector<std::int32_t>;

std::unique_ptr<Drafter> confidence(const std::string& options = "") {
  return testing::part(&Registries::drafters, "confidence", options);
}

Positions positions(const Proposal& proposal) {
  Positions all;
  for (const Node& node : proposal.nodes) all.push_back(node.position);
  return all;
}

// Eight positions in blocks of four, 0 and 1 given; the answer at the node where the last
// verification stopped is of these peaks.
//   position   2   3   4   5   6   7
//   peak      .6  .7  .5  .9  .9  .8
struct ConfidentDrafting {
  testing::ScriptedStep scripted{
      Canvas(8, std::vector<std::pair<std::int32_t, Token>>{{0, 1}, {1, 1}})};
  std::map<std::int32_t, Distribution> answers;

  explicit ConfidentDrafting(std::int64_t draft_length, const std::string& order = "confidence") {
    for (const auto& [position, peak] :
         std::map<std::int32_t, double>{{2, .6}, {3, .7}, {4, .5}, {5, .9}, {6, .9}, {7, .8}}) {
      answers.emplace(position, of({(1 - peak) / 2, peak, (1 - peak) / 2}));
    }
    scripted.blocks = {.size = 4, .origin = 0};
    scripted.decode.block_size = 4;
    scripted.decode.draft_length = draft_length;
    scripted.decode.sampling.temperature = 0;
    scripted.decodes("static", "order = " + order);
  }
  void carry() {
    scripted.carry.emplace();
    for (const auto& [position, answer] : answers)
      scripted.carry->answer.add(kRoot, position, answer);
  }
  Proposal propose(const std::string& options = "") {
    const auto drafter = confidence(options);
    return scripted.run(drafter->propose(scripted.step()), answers);
  }
};

TEST_CASE(
    "drafts come block by block, the most confident first, the leftmost among equals, and spill "
    "into the next block") {
  for (const char* order : {"order = rule", "order = confidence"}) {
    ConfidentDrafting drafting(5);
    drafting.carry();
    const Proposal proposal = drafting.propose(order);
    CHECK(positions(proposal) == Positions{3, 2, 5, 6, 7});
    CHECK_FALSE(drafting.scripted.asked);  // It drafts at the cost of no forward.
    CHECK(proposal.exact == 0);
    CHECK(proposal.lookahead > 0);
    CHECK(proposal.drawn_from.empty());  // Point masses.
    for (const Node& node : proposal.nodes) CHECK(node.token == 1);
    CHECK(proposal.raw[0].probability(1) == doctest::Approx(.7));
  }
  ConfidentDrafting two(2);
  two.carry();
  CHECK(positions(two.propose()) == Positions{3, 2});
  ConfidentDrafting all(4096);
  all.carry();
  CHECK(positions(all.propose()) == Positions{3, 2, 5, 6, 7, 4});
}

TEST_CASE("the rule's order is the unmasker's") {
  ConfidentDrafting drafting(3, "entropy");
  drafting.answers.at(2) = of({0, .6, .4});  // It has .673 nats against .820 of position 3.
  drafting.carry();
  CHECK(positions(drafting.propose()) == Positions{2, 3, 5});
  CHECK(positions(drafting.propose("order = confidence")) == Positions{3, 2, 5});
}

TEST_CASE(
    "without an answer to draft from, the step is one of stepwise decoding, and its answer is "
    "carried") {
  ConfidentDrafting drafting(3);
  const Proposal proposal = drafting.propose();
  REQUIRE(drafting.scripted.asked);
  CHECK(drafting.scripted.asked->kind == Kind::draft);
  CHECK(drafting.scripted.asked->view == View::bidirectional);
  // Its own choice and three drafts are filled up to whole blocks.
  CHECK(drafting.scripted.asked->asks.front().positions == Positions{2, 3, 4, 5, 6, 7});
  CHECK(positions(proposal) == Positions{3});
  CHECK(proposal.exact == 1);
  CHECK(proposal.lookahead > 0);
  CHECK(proposal.root_answer.find(kRoot, 5) != nullptr);
  ConfidentDrafting one(1);
  one.propose();
  CHECK(one.scripted.asked->asks.front().positions == Positions{2, 3});
}

TEST_CASE("a right-shifted model's carried position is not enough to draft from") {
  ConfidentDrafting drafting(2);
  drafting.scripted.carry.emplace();
  drafting.scripted.carry->answer.add(kRoot, 2, of({0, 0, 1}));
  CHECK(drafting.propose().exact == 1);
  CHECK(drafting.scripted.asked);
}

TEST_CASE(
    "no draft lies beyond the horizon of the cache; at a horizon of none the step is stepwise") {
  ConfidentDrafting drafting(5);
  drafting.carry();
  drafting.scripted.target.deepest = 2;
  CHECK(positions(drafting.propose()) == Positions{3, 2});
  drafting.scripted.target.deepest = 0;
  const Proposal proposal = drafting.propose();
  CHECK(proposal.exact == 1);
  CHECK(drafting.scripted.asked->asks.front().positions == Positions{2, 3, 4, 5, 6, 7});
}

// A cache that lasts for one question more, or is computed anew by this one.
struct Refreshing final : Sequence, Refreshed {
  Refreshing(const Canvas& canvas, bool its) : Sequence(canvas), last(its) {}
  int horizon() const override { return 0; }
  bool spent() const override { return last; }
  const bool last;
};

TEST_CASE("what nothing can be drafted from is not asked: the window before a refresh is enough") {
  for (const bool last : {false, true}) {
    ConfidentDrafting drafting(3);
    drafting.carry();
    const auto drafter = confidence();
    const Step by_hand = drafting.scripted.step();
    Refreshing target(by_hand.canvas, last);
    const Step step{.canvas = by_hand.canvas,
                    .window = by_hand.window,
                    .blocks = by_hand.blocks,
                    .decode = by_hand.decode,
                    .carry = by_hand.carry,
                    .chance = by_hand.chance,
                    .mailbox = by_hand.mailbox,
                    .vocabulary = by_hand.vocabulary,
                    .target = target,
                    .frontier = by_hand.frontier,
                    .unmasker = by_hand.unmasker};
    const Proposal proposal = drafting.scripted.run(drafter->propose(step), drafting.answers);
    CHECK(proposal.exact == 1);
    CHECK(drafting.scripted.asked->asks.front().positions ==
          (last ? Positions{2, 3} : Positions{2, 3, 4, 5, 6, 7}));
  }
}

TEST_CASE("a pass of its own, and the paper's fallback") {
  ConfidentDrafting drafting(5);
  drafting.carry();
  const Proposal proposal = drafting.propose("source = pass");
  CHECK(drafting.scripted.asked);
  CHECK(positions(proposal) == Positions{3, 2, 5, 6, 7});
  CHECK(proposal.exact == 0);
  CHECK(proposal.lookahead == 0);
  ConfidentDrafting few(7);
  few.carry();
  CHECK(positions(few.propose("tail = short")).size() == 6);
  const Proposal stepwise = few.propose("tail = stepwise");
  CHECK(positions(stepwise) == Positions{3});
  CHECK(stepwise.exact == 1);
  CHECK(few.scripted.asked->asks.front().positions == Positions{2, 3});
}

TEST_CASE("drawn drafts claim what they were drawn from, and may be sorted by what was drawn") {
  ConfidentDrafting drafting(2, "peak");
  drafting.scripted.decode.sampling.temperature = 1;
  drafting.answers.at(2) = of({0, 1, 0});
  drafting.answers.at(3) = of({.5, .5, 0});
  drafting.carry();
  const Proposal proposal = drafting.propose("drafts = drawn\norder = confidence");
  CHECK(positions(proposal) == Positions{2, 3});
  REQUIRE(proposal.drawn_from.size() == 2);
  CHECK(proposal.drawn_from[1].probability(0) == doctest::Approx(.5));
}

}  // namespace
}  // namespace draftlab
