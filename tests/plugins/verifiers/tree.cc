// The walk by hand: five masks in blocks of three, greedy; which node answers what is written down.
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;
using Positions = std::vector<std::int32_t>;

// (node, position) -> the peak of token 1 there, 0.1 where nothing is said (then it is token 0 that
// is likeliest, with .8).
using Peaks = std::map<std::pair<int, std::int32_t>, double>;

struct Walk {
  testing::ScriptedStep scripted{Canvas(5, {})};
  Proposal proposal;
  Peaks peaks;

  // Drafts of token 1 at positions 1, 0, 2, 3, ...: as many as asked for.
  explicit Walk(int drafts) {
    scripted.blocks = {.size = 3, .origin = 0};
    scripted.decode.block_size = 3;
    scripted.decode.draft_length = drafts;
    scripted.decode.sampling.temperature = 0;
    scripted.decodes("static");
    const Positions order = {1, 0, 2, 3, 4};
    for (int i = 0; i < drafts; ++i)
      proposal.nodes.push_back({i - 1, order[static_cast<std::size_t>(i)], 1});
    proposal.lookahead = drafts + 1;
  }
  Verdict judge(const std::string& options = "") {
    scripted.chance = SampledChance(1);  // A verdict of its own, not the next of one decode.
    const auto verifier = testing::part(&Registries::verifiers, "tree", options);
    const auto rule = testing::part(&Registries::acceptance, "speculative");
    scripted.chance = SampledChance(1);  // Each verdict is one decode's.
    return scripted.run(verifier->judge(scripted.step(), proposal, *rule),
                        [&](int node, std::int32_t position) {
                          const auto found = peaks.find({node, position});
                          const double peak = found == peaks.end() ? .1 : found->second;
                          return of({.9 - peak, peak, .1});
                        });
  }
};

Positions positions(const Verdict& verdict) {
  Positions all;
  for (const Commit& commit : verdict.commits) all.push_back(commit.position);
  return all;
}

TEST_CASE(
    "the walk goes on while a node's own choice is its child, and commits the choice of the node "
    "where it stops") {
  Walk walk(3);
  walk.peaks = {{{kRoot, 1}, .88},
                {{0, 0}, .88}};  // Two are right; then node 1 prefers token 0 at position 2.
  const Verdict verdict = walk.judge();
  CHECK(positions(verdict) == Positions{1, 0, 2});
  CHECK(verdict.commits[0].source == Source::accepted);
  CHECK(verdict.commits[1].source == Source::accepted);
  CHECK(verdict.commits[2].source == Source::resampled);
  CHECK(verdict.commits[2].token == 0);
  CHECK(verdict.why == Stop::wrong_token);
  REQUIRE(verdict.judged.size() == 3);
  CHECK(verdict.judged[0].accepted);
  CHECK(verdict.judged[1].accepted);
  CHECK_FALSE(verdict.judged[2].accepted);
  CHECK(verdict.judged[2].reached);
  // At temperature 0 a choice is certain, so what is judged was accepted with probability 1 or 0.
  for (const Judged& judged : verdict.judged) CHECK(judged.accept == judged.accepted);
}

TEST_CASE("every draft that was judged has the probability with which its node holds it") {
  for (const char* options : {"", "draws = ratio", "match = token", "shape = top-k"}) {
    Walk walk(3);
    walk.scripted.decode.sampling.temperature = 1;
    walk.peaks = {{{kRoot, 1}, .88}, {{0, 0}, .88}};
    const Verdict verdict = walk.judge(options);
    CAPTURE(options);
    REQUIRE(!verdict.judged.empty());
    CHECK(verdict.judged[0].reached);
    for (const Judged& judged : verdict.judged) {
      if (!judged.reached) continue;
      CHECK(judged.accept >= 0);
      CHECK(judged.accept <= 1);
      if (judged.accepted) CHECK(judged.accept > 0);
    }
    if (verdict.judged[0].accepted && std::string(options) != "draws = ratio")
      CHECK(verdict.judged[0].accept == doctest::Approx(.88));
  }
}

TEST_CASE("a draft that no law was said of was drawn with certainty") {
  Walk walk(2);
  walk.proposal.exact = 1;
  const Verdict verdict = walk.judge();
  REQUIRE(verdict.judged.size() == 2);
  CHECK(verdict.judged[0].target == 1);
  for (const Judged& judged : verdict.judged) CHECK(judged.drawn == 1);
}

TEST_CASE("ratio: what replaces a rejected first child may be the draft itself") {
  Walk walk(1);
  walk.scripted.decode.sampling.temperature = 1;
  walk.scripted.decodes("static", "order = peak");
  // The root prefers position 1 by its peak. Its first child there holds token 1, which is kept
  // with probability .3 / .6.
  walk.peaks = {{{kRoot, 1}, .3}, {{kRoot, 0}, .45}, {{kRoot, 2}, .45}};
  walk.proposal.drawn_from = {of({.4, .6, 0})};
  // The residual has none of token 1; where a rejected draft stays, its token is held in any case.
  const auto held = [&](const std::string& options) {
    walk.scripted.chance = SampledChance(1);
    const auto verifier = testing::part(&Registries::verifiers, "tree", "draws = ratio");
    const auto rule = testing::part(&Registries::acceptance, "speculative", options);
    return walk.scripted
        .run(verifier->judge(walk.scripted.step(), walk.proposal, *rule),
             [&](int node, std::int32_t position) {
               const auto found = walk.peaks.find({node, position});
               const double peak = found == walk.peaks.end() ? .1 : found->second;
               return of({.9 - peak, peak, .1});
             })
        .judged[0]
        .accept;
  };
  CHECK(held("") == doctest::Approx(.3 / .6));
  CHECK(held("resample = draft") == doctest::Approx(1));
}

TEST_CASE("the root's own choice is committed where it is no draft at all") {
  Walk walk(3);
  walk.peaks = {{{kRoot, 2}, .89}};  // It is the right token, at a position that comes later.
  const Verdict verdict = walk.judge();
  CHECK(positions(verdict) == Positions{2});
  CHECK(verdict.commits[0].token == 1);
  CHECK(verdict.why == Stop::wrong_order);
  CHECK_FALSE(verdict.judged[1].reached);
}

TEST_CASE("every draft right: one more token from the leaf, which begins the next block") {
  Walk walk(3);
  walk.peaks = {{{kRoot, 1}, .88}, {{0, 0}, .88}, {{1, 2}, .88}, {{2, 4}, .88}};
  const Verdict verdict = walk.judge();
  CHECK(positions(verdict) == Positions{1, 0, 2, 4});
  CHECK(verdict.commits[3].source == Source::bonus);
  CHECK(verdict.why == Stop::complete);
}

TEST_CASE("N + 1 rows: each node asks what its choice needs and what the next drafts will") {
  Walk walk(1);
  walk.judge();
  REQUIRE(walk.scripted.asked);
  const Question& question = *walk.scripted.asked;
  CHECK(question.kind == Kind::verify);
  CHECK(question.form() == Form::branches);
  REQUIRE(question.asks.size() == 2);
  CHECK(question.asks[0].node == kRoot);
  // Its own choice and one draft after it.
  CHECK(question.asks[0].positions == Positions{0, 1, 2});
  CHECK(question.asks[1].positions == Positions{0, 2});
  Walk three(3);
  three.judge();
  REQUIRE(three.scripted.asked->asks.size() == 4);
  CHECK(three.scripted.asked->asks[0].positions == Positions{0, 1, 2, 3, 4});
  CHECK(three.scripted.asked->asks[3].positions == Positions{3, 4});
  Walk own_pass(3);
  own_pass.proposal.lookahead = 0;  // The next drafts need nothing.
  own_pass.judge();
  CHECK(own_pass.scripted.asked->asks[0].positions == Positions{0, 1, 2});
  Walk mixed(3);
  mixed.judge("shape = mix-order");
  CHECK(mixed.scripted.asked->asks.size() == 6);
}

TEST_CASE("what is carried is the answer of the stopping node, at what is still masked") {
  Walk walk(2);
  walk.peaks = {{{kRoot, 1}, .88}, {{0, 2}, .7}};
  // Position 1 is first; then node 0 prefers token 0 at position 0 (.8).
  const Verdict verdict = walk.judge();
  CHECK(positions(verdict) == Positions{1, 0});
  REQUIRE(verdict.carry);
  CHECK(verdict.carry->node == kRoot);
  REQUIRE(verdict.carry->answer.find(kRoot, 2));
  CHECK(verdict.carry->answer.at(kRoot, 2).probability(1) == doctest::Approx(.7));
  CHECK(verdict.carry->answer.find(kRoot, 0) == nullptr);
  Walk own_pass(2);
  own_pass.proposal.lookahead = 0;
  CHECK_FALSE(own_pass.judge().carry);
}

TEST_CASE("mix-order: a choice that is the draft after next is followed once") {
  Walk walk(3);
  walk.peaks = {{{kRoot, 0}, .88},
                {{3, 1}, .88}};  // Node 3 holds position 0 alone, where the choice is position 1.
  const Verdict verdict = walk.judge("shape = mix-order");
  CHECK(positions(verdict) == Positions{0, 1});
  CHECK(verdict.commits[0].source == Source::accepted);
  CHECK(verdict.commits[1].source == Source::bonus);
  CHECK(verdict.judged[1].accepted);
  CHECK_FALSE(verdict.judged[0].accepted);
  CHECK(verdict.why == Stop::complete);
  CHECK(positions(walk.judge()) == Positions{0});  // The chain has no such node.
}

TEST_CASE("token only: the position is the draft's, whatever the node would choose") {
  Walk walk(2);
  walk.peaks = {{{kRoot, 2}, .89}, {{kRoot, 1}, .6}, {{0, 0}, .5}};
  CHECK(positions(walk.judge()) == Positions{2});
  const Verdict verdict = walk.judge("match = token");
  CHECK(positions(verdict).size() == 3);
  CHECK(positions(verdict)[0] == 1);
  CHECK(positions(verdict)[1] == 0);
}

TEST_CASE("the chain ends at the horizon of the cache") {
  Walk walk(3);
  walk.peaks = {{{kRoot, 1}, .88}, {{0, 0}, .88}, {{1, 2}, .88}};
  walk.scripted.target.deepest = 1;
  const Verdict verdict = walk.judge();
  CHECK(walk.scripted.asked->nodes.size() == 1);
  CHECK(walk.scripted.asked->asks[1].positions ==
        Positions{0, 2});  // Nothing beyond will be drafted from this answer.
  CHECK(positions(verdict) == Positions{1, 0});
  CHECK(verdict.why == Stop::cache_refresh);
  walk.scripted.target.deepest = 0;
  CHECK(positions(walk.judge()) == Positions{1});
  CHECK(walk.scripted.asked->nodes.empty());
  CHECK(walk.scripted.asked->kind == Kind::draft);  // It judges nothing.
}

TEST_CASE("exact drafts are committed unasked, and carry the drafter's own answer") {
  Walk walk(1);
  walk.proposal.exact = 1;
  walk.proposal.root_answer.add(kRoot, 0, of({1, 0, 0}));
  const Verdict verdict = walk.judge();
  CHECK_FALSE(walk.scripted.asked);
  CHECK(positions(verdict) == Positions{1});
  REQUIRE(verdict.carry);
  CHECK(verdict.carry->answer.find(kRoot, 0));
  walk.proposal.lookahead = 0;  // The next drafts need nothing.
  CHECK_FALSE(walk.judge().carry);
  Walk unanswered(1);
  unanswered.proposal.exact = 1;
  CHECK_FALSE(unanswered.judge().carry);
  Walk two(2);
  two.proposal.exact = 1;
  two.judge();
  // The node where it is in place is asked; the root is not.
  CHECK(two.scripted.asked->asks.front().node == 0);
}

TEST_CASE("a rule that commits several tokens is followed to the node that has them all") {
  Walk walk(3);
  walk.scripted.decode.threshold = .6;
  walk.scripted.decodes("threshold");
  walk.peaks = {{{kRoot, 1}, .88}, {{kRoot, 0}, .85}, {{kRoot, 2}, .5}, {{1, 2}, .88}};
  Verdict verdict = walk.judge();
  CHECK(positions(verdict)[0] == 1);
  CHECK(positions(verdict)[1] == 0);
  CHECK(positions(verdict)[2] == 2);  // This choice is node 1's own.
  CHECK(verdict.judged[1].accepted);
}

TEST_CASE("what is carried says how many commits its answer has not seen") {
  Walk walk(3);
  walk.peaks = {{{kRoot, 1}, .88}};  // Then node 0 prefers token 0 at position 0.
  const Verdict one = walk.judge();
  REQUIRE(one.carry);
  CHECK(one.carry->unseen_commits == 1);
  walk.scripted.decode.threshold = .6;
  walk.scripted.decodes("threshold");
  walk.peaks = {{{kRoot, 2}, .85}, {{kRoot, 0}, .4}};
  // The root is sure of token 0 at position 1 (.8) and of token 1 at 2: no node has both in place.
  const Verdict two = walk.judge();
  CHECK(two.commits.size() == 2);
  REQUIRE(two.carry);
  CHECK(two.carry->unseen_commits == 2);
}

TEST_CASE("steps that count, and a shadow that only looks on, are refused") {
  const auto verifier = testing::part(&Registries::verifiers, "tree");
  DecodeOptions decode;
  verifier->begin({}, decode);
  decode.steps = 2;
  CHECK_THROWS_AS(verifier->begin({}, decode), ConfigError);
  decode.steps = 0;
  decode.shadow = Shadow::observe;
  CHECK_THROWS_AS(verifier->begin({}, decode), ConfigError);
}

TEST_CASE("in place: one row, kept until the model would write another token; one at least") {
  Walk walk(3);
  walk.peaks = {{{2, 1}, .8}, {{2, 0}, .8}};
  const auto in_place = testing::part(&Registries::verifiers, "in-place");
  const auto rule = testing::part(&Registries::acceptance, "speculative");
  const auto judge = [&] {
    return walk.scripted.run(
        in_place->judge(walk.scripted.step(), walk.proposal, *rule),
        [&](int node, std::int32_t position) {
          const auto found = walk.peaks.find({node, position});
          return found == walk.peaks.end() ? of({.8, .1, .1}) : of({.1, found->second, .1});
        });
  };
  const Verdict first = judge();
  REQUIRE(first.judged.size() == 3);
  const double targets[] = {1, 1, 0};  // At temperature 0 a token is certain, or impossible.
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(first.judged[i].target == targets[i]);
    CHECK(first.judged[i].accept == targets[i]);
    CHECK(first.judged[i].drawn == 1);
    CHECK(first.judged[i].accepted == (i < 2));
  }
  CHECK(positions(first) == Positions{1, 0});
  CHECK(walk.scripted.asked->nodes.size() == 3);
  CHECK(walk.scripted.asked->asks.size() == 1);
  walk.peaks.clear();
  walk.scripted.chance = SampledChance(2);
  CHECK(positions(judge()) == Positions{1});
}

}  // namespace
}  // namespace draftlab
