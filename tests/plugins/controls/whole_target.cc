#include <doctest/doctest.h>

#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;

// Two drafts of position 1, tokens 0 and 1, each drawn from (.5, .5, 0), where p = (0, .5, .5).
// Token 0 is never accepted and leaves max(p - q, 0) = (0, 0, 1), under which token 1 is not,
// either; against all of p it is.
TEST_CASE("whole-target: a sibling is judged as if none before it had been rejected") {
  const std::vector<std::pair<std::int32_t, Token>> prompt = {{0, 0}};
  testing::ScriptedStep scripted(Canvas(3, prompt));
  scripted.window = {.positions = {1, 2}, .span = 2, .boundary = Stop::block_end, .block = 0};
  Proposal proposal;
  proposal.nodes = {{kRoot, 1, 0}, {kRoot, 1, 1}};
  proposal.drawn_from = {of({.5, .5, 0}), of({.5, .5, 0})};
  const auto verifier = testing::part(&Registries::verifiers, "chain");
  const auto committed = [&](const std::string& rule) {
    const auto acceptance = testing::part(&Registries::acceptance, rule);
    acceptance->begin(scripted.blocks, scripted.decode);
    scripted.chance = SampledChance(1);
    const Verdict verdict = scripted.run(verifier->judge(scripted.step(), proposal, *acceptance),
                                         {{1, of({0, .5, .5})}, {2, of({1, 0, 0})}});
    REQUIRE(verdict.commits.size() == 1);
    return std::pair(verdict.commits[0].token, verdict.commits[0].source);
  };
  CHECK(committed("speculative") == std::pair(Token{2}, Source::resampled));
  CHECK(committed("whole-target") == std::pair(Token{1}, Source::accepted));
}

TEST_CASE("whole-target: the law that is drawn from has the decode's temperature") {
  const auto rule = testing::part(&Registries::acceptance, "whole-target");
  DecodeOptions decode;
  decode.sampling.temperature = 0.5;
  rule->begin({}, decode);
  const Distribution left = of({0, 0, 1}), raw = of({.25, .75, 0}), drawn_from = of({.5, .5, 0});
  // The squares of .25 and .75 are as 1 to 9.
  CHECK(rule->probability({0, left, &drawn_from, 0, raw}) == doctest::Approx(.2));
  CHECK(rule->replacement({0, left, &drawn_from, 0, raw}).probability(1) == doctest::Approx(1));
  CHECK_FALSE(rule->exact());
}

}  // namespace
}  // namespace draftlab
