// Three drafts in two random orders, by hand: which order is which is read off the question, where
// each order has a row of two nodes.
#include <doctest/doctest.h>

#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;
constexpr int kDrafts = 3, kNodesOfAnOrder = kDrafts - 1;

// The verdict where drafts, which were drawn with probability .5, have the probability `said` in
// the order of that number. A seed whose two orders begin with different drafts is taken.
struct TwoOrders {
  testing::ScriptedStep scripted{Canvas(kDrafts, {})};
  Proposal proposal;
  Verdict verdict;
  std::int32_t first[2];

  TwoOrders(double of_first, double of_second, const std::string& options = "") {
    scripted.window = {.positions = {0, 1, 2}, .span = kDrafts};
    for (std::int32_t i = 0; i < kDrafts; ++i) {
      proposal.nodes.push_back({i - 1, i, 0});
      proposal.drawn_from.push_back(of({.5, .5, 0}));
    }
    const auto verifier = testing::part(&Registries::verifiers, "orders", "orders = 2\n" + options);
    const auto rule = testing::part(&Registries::acceptance, "speculative");
    for (std::uint64_t seed = 1; seed < 100; ++seed) {
      scripted.chance = SampledChance(seed);
      scripted.mailbox.answer = {};
      verdict = scripted.run(verifier->judge(scripted.step(), proposal, *rule),
                             [&](int node, std::int32_t) {
                               const double p = node < kNodesOfAnOrder ? of_first : of_second;
                               return of({p, 1 - p, 0});
                             });
      for (int order = 0; order < 2; ++order)
        first[order] = scripted.asked->nodes[order * kNodesOfAnOrder].position;
      if (first[0] != first[1]) return;
    }
    FAIL("no seed has orders that begin with different drafts");
  }
};

TEST_CASE("orders: the longest accepted prefix wins, and its own numbers are recorded") {
  const TwoOrders second(0, .5);
  CHECK(second.verdict.why == Stop::complete);
  REQUIRE(second.verdict.commits.size() == kDrafts);
  CHECK(second.verdict.commits[0].position == second.first[1]);
  REQUIRE(second.verdict.judged.size() == kDrafts);
  for (const Judged& judged : second.verdict.judged) {
    CHECK(judged.accept == 1);
    CHECK(judged.target == .5);
    CHECK(judged.accepted);
  }
  const TwoOrders first(.5, 0);
  CHECK(first.verdict.commits.size() == kDrafts);
  CHECK(first.verdict.commits[0].position == first.first[0]);
}

TEST_CASE("orders: of equal prefixes the first order's is committed") {
  // Whatever comes second in its order is rejected, so each accepts its first draft alone.
  const TwoOrders tied(0, 0);
  CHECK(tied.verdict.why == Stop::wrong_order);
  REQUIRE(tied.verdict.commits.size() == 1);
  CHECK(tied.verdict.commits[0].position == tied.first[0]);
  for (std::int32_t i = 0; i < kDrafts; ++i) {
    CHECK(tied.verdict.judged[i].accepted == (i == tied.first[0]));
    CHECK(tied.verdict.judged[i].accept == (i == tied.first[0] ? 1 : 0));
  }
}

TEST_CASE("orders: each may draw its own numbers, and the longest prefix still wins") {
  const TwoOrders second(0, .5, "shared = false");
  REQUIRE(second.verdict.commits.size() == kDrafts);
  CHECK(second.verdict.commits[0].position == second.first[1]);
  const TwoOrders first(.5, 0, "shared = false");
  REQUIRE(first.verdict.commits.size() == kDrafts);
  CHECK(first.verdict.commits[0].position == first.first[0]);
}

}  // namespace
}  // namespace draftlab
