#include <doctest/doctest.h>

#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;

Verdict judged_by_k_seq(const std::vector<Token>& drafts, std::vector<Distribution> drawn_from,
                        std::uint64_t seed = 1, const std::string& options = "") {
  testing::ScriptedStep scripted(Canvas(2, {}));
  scripted.window = {.positions = {0, 1}, .span = 1, .boundary = Stop::window_end, .block = 0};
  scripted.chance = SampledChance(seed);
  Proposal proposal;
  for (const Token token : drafts) proposal.nodes.push_back({kRoot, 0, token});
  proposal.drawn_from = std::move(drawn_from);
  const auto verifier = testing::part(&Registries::verifiers, "k-seq", options);
  const auto rule = testing::part(&Registries::acceptance, "speculative");
  return scripted.run(verifier->judge(scripted.step(), proposal, *rule), {{0, of({.5, .3, .2})}});
}

// The smallest exact scale for two drafts of (.2, .5, .3) is 1.456776436.
TEST_CASE("k-seq: every draft is judged by the same scaled target") {
  const Distribution q = of({.2, .5, .3});
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Verdict verdict = judged_by_k_seq({1, 2}, {q, q}, seed);
    CHECK(verdict.judged[0].accept == doctest::Approx(.6 / 1.456776436));
    if (verdict.judged.size() > 1)
      CHECK(verdict.judged[1].accept == doctest::Approx(.2 / .3 / 1.456776436));
    REQUIRE(verdict.commits.size() == 1);
    const bool rejected = verdict.commits[0].source == Source::resampled;
    CHECK(verdict.why == (rejected ? Stop::wrong_token : Stop::window_end));
  }
  CHECK(judged_by_k_seq({0, 1}, {q, q}).commits[0].token == 0);  // Here p exceeds rho q.
  CHECK(judged_by_k_seq({1}, {q}).judged[0].accept == doctest::Approx(.6));
  CHECK(judged_by_k_seq({1, 2}, {q, q}, 1, "rho = 3").judged[0].accept == doctest::Approx(.2));
}

TEST_CASE("k-seq: drafts of different laws are refused") {
  CHECK_THROWS_WITH_AS(judged_by_k_seq({0, 1}, {of({.2, .5, .3}), of({0, .6, .4})}),
                       doctest::Contains("drawn independently from one distribution"), ConfigError);
  CHECK_THROWS_AS(judged_by_k_seq({0, 1}, {}), ConfigError);  // The drafts are point masses.
  CHECK_NOTHROW(judged_by_k_seq({1, 1}, {}));
}

}  // namespace
}  // namespace draftlab
