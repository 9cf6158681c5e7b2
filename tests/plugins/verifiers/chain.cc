#include <doctest/doctest.h>

#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;

// Drafts token 0 at the three masks 1, 2 and 3, each with probability one half; what lies left of
// them is committed.
struct ChainJudging {
  testing::ScriptedStep scripted;
  Proposal proposal;

  ChainJudging(int span, Stop boundary) : scripted(canvas()) {
    scripted.window = {.positions = {1, 2, 3}, .span = span, .boundary = boundary, .block = 0};
    for (std::int32_t i = 0; i < 3; ++i) {
      proposal.nodes.push_back({i - 1, i + 1, 0});
      proposal.drawn_from.push_back(of({.5, .5, 0}));
    }
  }
  static Canvas canvas() {
    Canvas canvas(4, {});
    canvas.commit(0, 1);
    return canvas;
  }
  // The verdict of a target that gives every draft probability `p`, and the rest to token 2.
  Verdict judge(double p, const std::string& acceptance = "") {
    scripted.chance = SampledChance(1);
    const auto verifier = testing::part(&Registries::verifiers, "chain");
    const auto rule = testing::part(&Registries::acceptance, "speculative", acceptance);
    const Distribution target = of({p, 0, 1 - p});
    return scripted.run(verifier->judge(scripted.step(), proposal, *rule),
                        {{1, target}, {2, target}, {3, target}});
  }
};

TEST_CASE("a fully accepted span says why it ends where it does") {
  CHECK(ChainJudging(3, Stop::block_end).judge(1).why == Stop::block_end);
  CHECK(ChainJudging(2, Stop::window_end).judge(1).why == Stop::window_end);
  CHECK(ChainJudging(2, Stop::window_end).judge(1).commits.size() == 2);
  CHECK(ChainJudging(3, Stop::complete).judge(1).why == Stop::complete);
  ChainJudging short_of_it(3, Stop::block_end);
  short_of_it.proposal.nodes.resize(2);
  CHECK(short_of_it.judge(1).why == Stop::complete);
}

TEST_CASE("only the span is asked, each draft at those before it") {
  ChainJudging judging(2, Stop::window_end);
  judging.judge(1);
  REQUIRE(judging.scripted.asked);
  CHECK(judging.scripted.asked->kind == Kind::verify);
  CHECK(judging.scripted.asked->nodes.size() == 1);
  REQUIRE(judging.scripted.asked->asks.size() == 2);
  CHECK(judging.scripted.asked->asks[0].node == kRoot);
  CHECK(judging.scripted.asked->asks[1].node == 0);
}

// Drafts at 1, 2 and 3, of which the first is never accepted, and the others with probability .8
// and .6 (the drafter gave each one half).
Verdict behind_rejection(int span, const std::string& options, testing::ScriptedStep* seen = {}) {
  ChainJudging judging(span, Stop::window_end);
  const auto verifier = testing::part(&Registries::verifiers, "chain", options);
  const auto rule = testing::part(&Registries::acceptance, "speculative");
  const Verdict verdict =
      judging.scripted.run(verifier->judge(judging.scripted.step(), judging.proposal, *rule),
                           {{1, of({0, 0, 1})}, {2, of({.4, 0, .6})}, {3, of({.3, 0, .7})}});
  if (seen) seen->asked = judging.scripted.asked;
  return verdict;
}

TEST_CASE("a ratio threshold commits drafts behind a rejection") {
  const auto positions = [](const Verdict& verdict) {
    std::vector<std::int32_t> committed;
    for (const Commit& commit : verdict.commits) committed.push_back(commit.position);
    return committed;
  };
  using Positions = std::vector<std::int32_t>;
  CHECK(positions(behind_rejection(3, "")) == Positions{1});
  CHECK(positions(behind_rejection(3, "ratio_threshold = 0.81\n")) == Positions{1});
  CHECK(positions(behind_rejection(3, "ratio_threshold = 0.8\n")) == Positions{1, 2});
  const Verdict both = behind_rejection(3, "ratio_threshold = 0\n");
  CHECK(positions(both) == Positions{1, 2, 3});
  CHECK(both.commits[0].source == Source::resampled);
  CHECK(both.commits[0].token == 2);
  CHECK(both.commits[1].source == Source::threshold);
  CHECK(both.commits[1].token == 0);
  CHECK(both.why == Stop::wrong_token);
}

TEST_CASE("all spans: a ratio threshold reaches behind the span, which is judged as ever") {
  testing::ScriptedStep seen(ChainJudging::canvas());
  CHECK(behind_rejection(2, "ratio_threshold = 0.5\n", &seen).commits.size() == 2);
  REQUIRE(seen.asked);
  CHECK(seen.asked->asks.size() == 2);
  const std::string all = "ratio_threshold = 0.5\nall_spans = true\n";
  const Verdict verdict = behind_rejection(2, all, &seen);
  CHECK(verdict.commits.size() == 3);
  CHECK(verdict.judged.size() == 1);
  CHECK(seen.asked->asks.size() == 3);
  // Where all of the span is accepted, the drafts behind it still need the threshold.
  ChainJudging judging(2, Stop::window_end);
  const auto verifier = testing::part(&Registries::verifiers, "chain", all);
  const auto rule = testing::part(&Registries::acceptance, "speculative");
  const Verdict accepted =
      judging.scripted.run(verifier->judge(judging.scripted.step(), judging.proposal, *rule),
                           {{1, of({1, 0, 0})}, {2, of({1, 0, 0})}, {3, of({.2, 0, .8})}});
  CHECK(accepted.commits.size() == 2);
  CHECK(accepted.why == Stop::window_end);
  CHECK_THROWS_WITH_AS(testing::part(&Registries::verifiers, "chain", "all_spans = true\n"),
                       doctest::Contains("needs a ratio_threshold from 0 on"), ConfigError);
}

TEST_CASE("a rejected draft is replaced, left masked, or kept") {
  const Verdict replaced = ChainJudging(3, Stop::block_end).judge(0);
  CHECK(replaced.why == Stop::wrong_token);
  REQUIRE(replaced.commits.size() == 1);
  CHECK(replaced.commits[0].token == 2);
  CHECK(replaced.commits[0].source == Source::resampled);
  CHECK(ChainJudging(3, Stop::block_end).judge(0, "resample = false").commits.empty());
  const Verdict kept = ChainJudging(3, Stop::block_end).judge(0, "resample = draft");
  REQUIRE(kept.commits.size() == 1);
  CHECK(kept.commits[0].token == 0);
  CHECK_FALSE(kept.judged[0].accepted);
}

TEST_CASE("a shadow measures the drafts of the span behind a rejection, and none behind the span") {
  ChainJudging judging(2, Stop::window_end);
  judging.scripted.decode.shadow = Shadow::commit;
  const Verdict verdict = judging.judge(0);
  REQUIRE(verdict.judged.size() == 2);
  CHECK(verdict.judged[0].reached);
  CHECK_FALSE(verdict.judged[1].reached);
  CHECK(verdict.judged[1].target == 0);
  CHECK(verdict.judged[1].accept == 0);
}

TEST_CASE("an accepted minimum block is not tested, but measured") {
  ChainJudging judging(3, Stop::block_end);
  const auto verifier = testing::part(&Registries::verifiers, "chain", "minimum_block = 2\n");
  const auto rule = testing::part(&Registries::acceptance, "speculative");
  const Distribution never = of({0, 0, 1});
  const Verdict verdict =
      judging.scripted.run(verifier->judge(judging.scripted.step(), judging.proposal, *rule),
                           {{1, never}, {2, never}, {3, never}});
  REQUIRE(verdict.commits.size() == 3);
  CHECK(verdict.commits[1].source == Source::accepted);
  CHECK(verdict.commits[2].token == 2);
  CHECK(verdict.judged[0].target == 0);
  CHECK(verdict.judged[0].accept == 1);
}

TEST_CASE(
    "a drafter with a lookahead has more asked at every node, also the last, and gets the answer "
    "with where it stopped") {
  ChainJudging judging(3, Stop::block_end);
  judging.proposal.nodes.resize(2);
  judging.proposal.drawn_from.resize(2);
  judging.proposal.exact = 1;
  judging.proposal.lookahead = 2;
  const Verdict verdict = judging.judge(0, "resample = false");
  const Question& asked = *judging.scripted.asked;
  CHECK(asked.nodes.size() == 2);
  REQUIRE(asked.asks.size() == 2);  // The exact draft is not tested, so the root is not asked.
  CHECK(asked.asks[0].node == 0);
  CHECK(asked.asks[0].positions == std::vector<std::int32_t>{2, 3});
  CHECK(asked.asks[1].node == 1);
  CHECK(asked.asks[1].positions == std::vector<std::int32_t>{3});
  REQUIRE(verdict.carry);
  CHECK(verdict.carry->node == 0);  // The second draft was rejected.
  CHECK(verdict.carry->unseen_commits == 0);
  CHECK(judging.judge(0).carry->unseen_commits == 1);  // The draft was replaced.
  CHECK(judging.judge(1).carry->node == 1);
  judging.proposal.exact = 2;  // With nothing to test there is no forward, hence no carry.
  CHECK_FALSE(judging.judge(1).carry);
  CHECK_FALSE(judging.scripted.asked);
}

// Two drafts of position 1, tokens 0 and 1, each drawn from (.5, .5, 0); behind the second one
// draft of position 2.
TEST_CASE("siblings are tried in turn, against what the rejected ones left of the target") {
  ChainJudging judging(3, Stop::block_end);
  judging.proposal.nodes = {{kRoot, 1, 0}, {kRoot, 1, 1}, {1, 2, 0}};
  // p = (0, .5, .5): token 0 is never accepted and leaves max(p - q, 0) = (0, 0, 1), under which
  // token 1 is not, either.
  const auto rule = testing::part(&Registries::acceptance, "speculative");
  const std::map<std::int32_t, Distribution> target = {
      {1, of({0, .5, .5})}, {2, of({1, 0, 0})}, {3, of({1, 0, 0})}};
  const auto verifier = testing::part(&Registries::verifiers, "chain");
  const Verdict updated = judging.scripted.run(
      verifier->judge(judging.scripted.step(), judging.proposal, *rule), target);
  REQUIRE(updated.commits.size() == 1);
  CHECK(updated.commits[0].token == 2);
  CHECK(updated.commits[0].source == Source::resampled);
  CHECK(updated.judged.size() == 2);
  CHECK(updated.judged[1].accept == 0);
  // Only node 1 is sent: nothing is asked at the others.
  CHECK(judging.scripted.asked->nodes.size() == 1);
  CHECK(judging.scripted.asked->nodes[0].token == 1);
  CHECK(judging.scripted.asked->asks[1].node == 0);
}

}  // namespace
}  // namespace draftlab
