// Block and traversal verification, by hand: two drafts of token 1 on a path, both drawn from (.2,
// .5, .3) where the target has (.5, .3, .2).
#include <doctest/doctest.h>

#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;

struct Judging : testing::ScriptedStep {
  Proposal proposal;
  Judging() : testing::ScriptedStep(Canvas(3, {})) {
    window = {.positions = {0, 1, 2}, .span = 3, .boundary = Stop::block_end, .block = 0};
    for (int i = 0; i < 2; ++i) {
      proposal.nodes.push_back({i - 1, i, 1});
      proposal.drawn_from.push_back(of({.2, .5, .3}));
    }
  }
  // With a mistake the rule is the control that makes it.
  Verdict judge(const Distribution& second, const std::string& options = "") {
    const bool mistaken = options.find("mistake = ") != std::string::npos;
    const auto verifier =
        testing::part(&Registries::verifiers, mistaken ? "block-mistakes" : "block", options);
    const auto rule = testing::part(&Registries::acceptance, "speculative");
    return run(verifier->judge(step(), proposal, *rule),
               {{0, of({.5, .3, .2})}, {1, second}, {2, of({1, 0, 0})}});
  }
};

TEST_CASE("block: each draft is told the probability that it and all before it are accepted") {
  Judging judging;
  const Verdict verdict = judging.judge(of({.4, .2, .4}));
  REQUIRE(verdict.judged.size() == 2);
  CHECK(verdict.judged[0].accept == doctest::Approx(.6));
  CHECK(verdict.judged[1].accept == doctest::Approx(.6 * .4));
  CHECK(verdict.judged[1].target == doctest::Approx(.2));
  CHECK(verdict.judged[1].drawn == doctest::Approx(.5));
}

TEST_CASE("block: a draft that the target likes rescues the one before it") {
  Judging judging;  // The weight w is .6, then min(1, .6 * .9 / .5) = 1.
  const Verdict verdict = judging.judge(of({.1, .9, 0}));
  CHECK(verdict.judged[0].accept == doctest::Approx(.6));
  CHECK(verdict.judged[1].accept == 1);
  REQUIRE(verdict.commits.size() == 2);
  CHECK(verdict.judged[0].accepted);
  CHECK(verdict.judged[1].accepted);
  CHECK(verdict.why == Stop::complete);
}

TEST_CASE("block: what replaces a draft is what the weighted target has more than the drafter") {
  // w = .6, so behind the first draft max(.6 p - q, 0) = max((.12, .06, .42) - q, 0), which is
  // token 2 alone; the plain residual would have token 0 too if p = (.25, .1, .65) were not
  // weighted.
  int resampled = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Judging judging;
    judging.chance = SampledChance(seed);
    const Verdict verdict = judging.judge(of({.25, .05, .7}));
    if (verdict.commits.size() != 2 || verdict.commits[1].source != Source::resampled) continue;
    ++resampled;
    CHECK(verdict.commits[1].token == 2);
  }
  CHECK(resampled > 20);
}

TEST_CASE("block-mistakes: the four rules that are nearly block verification do otherwise") {
  // Behind the first draft, of weight .6, a target of (.25, .05, .7) leaves .12 of weighted mass:
  // it is kept with probability .12 / .52 where the second is rejected, and so is the step's end in
  // 1 - .23 of the cases for the rule from the front.
  struct Seen {
    int none = 0, one = 0, both = 0, residual_0 = 0;
    double second = 0;
  };
  const auto count = [](const std::string& mistake, const Distribution& second) {
    Seen seen;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
      Judging judging;
      judging.chance = SampledChance(seed);
      const Verdict verdict = judging.judge(second, mistake);
      const bool one = verdict.judged[0].accepted,
                 both = verdict.judged.size() > 1 && verdict.judged[1].accepted;
      seen.none += !one, seen.one += one && !both, seen.both += both;
      seen.residual_0 += one && !both && verdict.commits.back().token == 0;
      if (verdict.judged.size() > 1) seen.second = verdict.judged[1].accept;
    }
    return seen;
  };
  // The second draft has w = .6 * .05 / .5 = .06, and .6 p - q = (-.05, -.47, .12). So where it is
  // rejected, the first is kept with probability .12 / .52.
  const Distribution second = of({.25, .05, .7});
  const Seen exact = count("", second), residual = count("mistake = token-residual", second),
             same = count("mistake = same-weight", second);
  CHECK(exact.residual_0 == 0);
  CHECK(residual.residual_0 > 20);  // max(p - q, 0) = (.05, 0, .4).
  CHECK(residual.one == exact.one);
  CHECK(std::abs(exact.one / 2000. - .94 * .12 / .52) < .03);
  CHECK(std::abs(same.one / 2000. - .94 * .6) < .03);
  // A second draft that the target likes: w = min(1, .6 * .9 / .5), so both are always accepted.
  CHECK(count("", of({.1, .9, 0})).both == 2000);
  const Seen front = count("mistake = first-rejection", of({.1, .9, 0}));
  CHECK(front.none > 200);  // .6 p - q = (-.14, .04, -.3), h = .04 / .44.
  CHECK(std::abs(front.both / 2000. - .04 / .44) < .03);
  // A first ratio of 5/3 that is not clipped rescues the second, of ratio .3 / .5.
  const auto clipped = [](const std::string& options) {
    Judging judging;
    for (Node& node : judging.proposal.nodes) node.token = 0;
    judging.proposal.drawn_from = {of({.3, .4, .3}), of({.5, .3, .2})};
    return judging.judge(of({.3, .3, .4}), options).judged[1].accept;
  };
  CHECK(clipped("") == doctest::Approx(.6));
  CHECK(clipped("mistake = unclipped") == doctest::Approx(1));
}

TEST_CASE("block-mistakes: from the front, drafts that the target itself drew are all accepted") {
  // Nothing is left of p - q there, and a weight of 1 stays one.
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Judging judging;
    judging.chance = SampledChance(seed);
    judging.proposal.drawn_from = {of({.5, .3, .2}), of({.4, .4, .2})};
    const Verdict verdict = judging.judge(of({.4, .4, .2}), "mistake = first-rejection");
    REQUIRE(verdict.judged.size() == 2);
    CHECK(verdict.judged[0].accepted);
    CHECK(verdict.judged[1].accepted);
  }
}

TEST_CASE("block: drafts behind a rejection count as not reached, as far as they were measured") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Judging judging;
    judging.chance = SampledChance(seed);
    const Verdict verdict = judging.judge(of({.9, 0, .1}));  // The second draft is impossible.
    REQUIRE(verdict.judged.size() == 2);
    CHECK(verdict.judged[0].reached);
    CHECK_FALSE(verdict.judged[1].accepted);
    CHECK(verdict.judged[1].reached == verdict.judged[0].accepted);
    CHECK(verdict.why == Stop::wrong_token);
    CHECK(verdict.commits.back().source == Source::resampled);
    CHECK(verdict.commits.size() == (verdict.judged[0].accepted ? 2 : 1));
  }
}

TEST_CASE("block: a bonus is asked and drawn where a whole path is accepted") {
  Judging with, without;
  const Verdict bonus = with.judge(of({.1, .9, 0}), "bonus = true");
  REQUIRE(bonus.commits.size() == 3);
  CHECK(bonus.commits[2].token == 0);
  CHECK(bonus.commits[2].source == Source::bonus);
  CHECK(with.asked->asks.size() == 3);
  without.judge(of({.1, .9, 0}));
  CHECK(without.asked->asks.size() == 2);
}

TEST_CASE("block: exact drafts are accepted untested, and nothing is asked where all are") {
  Judging judging;
  judging.proposal.exact = 1;
  const Verdict one = judging.judge(of({.1, .9, 0}));
  CHECK(judging.asked->asks.size() == 1);
  CHECK(one.judged[0].accept == 1);
  CHECK(one.commits.size() == 2);
  judging.proposal.exact = 2;
  const Verdict all = judging.judge(of({0, 0, 1}), "bonus = true");
  CHECK_FALSE(judging.asked);
  CHECK(all.commits.size() == 2);
}

}  // namespace
}  // namespace draftlab
