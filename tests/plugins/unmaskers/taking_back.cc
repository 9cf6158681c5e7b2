// Unmaskers that take tokens back, by hand. Positions 0 and 1 hold token 0, tentatively; the others
// are masked, and token 0 is drafted there.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;
using Positions = std::vector<std::int32_t>;

struct TakingBack {
  testing::ScriptedStep scripted;
  Proposal proposal;
  std::unique_ptr<Unmasker> unmasker;

  TakingBack(const std::string& name, const std::string& options, int length, int held = 2,
             std::int64_t steps = 0)
      : scripted(Canvas(length, {})) {
    unmasker = testing::part(&Registries::unmaskers, name, options);
    scripted.decode.threshold = 0.6;
    scripted.decode.steps = steps;
    unmasker->begin(scripted.blocks, scripted.decode);
    for (std::int32_t i = 0; i < held; ++i) scripted.canvas.commit(i, 0, true);
    scripted.window.positions = scripted.canvas.masked_positions();
    CHECK(unmasker->takes_back());
  }
  // What is drafted at the masks, and what the model now says of the tokens that stand there.
  TakingBack& says(std::initializer_list<double> drafts, const std::vector<Distribution>& held) {
    proposal = {};
    for (const double p : drafts) {
      const auto i = proposal.nodes.size();
      proposal.nodes.push_back({kRoot, scripted.window.positions[i], 0});
      proposal.raw.push_back(of({p, 1 - p, 0}));
    }
    for (std::size_t i = 0; i < held.size(); ++i)
      proposal.root_answer.add(kRoot, static_cast<std::int32_t>(i), held[i]);
    return *this;
  }
  static Positions positions(const std::vector<Commit>& commits) {
    Positions positions;
    for (const Commit& commit : commits) positions.push_back(commit.position);
    return positions;
  }
  Verdict choose() { return unmasker->choose(scripted.step(), proposal); }
  // The step as the loop makes it.
  Verdict take() {
    Verdict verdict = choose();
    for (const Commit& commit : verdict.commits)
      scripted.canvas.commit(commit.position, commit.token, true);
    for (const Commit& token : verdict.taken_back) {
      CHECK(token.source == Source::taken_back);
      scripted.canvas.take_back(token.position);
    }
    verdict.proposal = &proposal;
    unmasker->observe(scripted.canvas, {}, verdict);
    scripted.window.positions = scripted.canvas.masked_positions();
    return verdict;
  }
};

TEST_CASE("wino: what the model no longer likes is taken back, fewer than are committed") {
  const auto back = [](const std::string& options, std::initializer_list<double> drafts) {
    TakingBack step("wino", options, 6);
    const Verdict verdict = step.says(drafts, {of({.4, .6, 0}), of({.2, .8, 0})}).choose();
    return std::pair(TakingBack::positions(verdict.commits),
                     TakingBack::positions(verdict.taken_back));
  };
  CHECK(back("", {.9, .8, .5, .3}) == std::pair(Positions{2, 3}, Positions{1}));
  CHECK(back("", {.9, .8, .7, .3}) == std::pair(Positions{2, 3, 4}, Positions{1, 0}));
  CHECK(back("keep = 0.3", {.9, .8, .7, .3}) == std::pair(Positions{2, 3, 4}, Positions{1}));
  CHECK(back("keep = 0.1", {.9, .8, .7, .3}).second.empty());
  CHECK(back("", {.9, .5, .5, .3}) == std::pair(Positions{2}, Positions{}));
  // At most .7 of four masks, where that is not less than `at_least` nor more than `at_most`.
  const std::initializer_list<double> sure = {.9, .8, .9, .9};
  CHECK(back("at_least = 1", sure).first == Positions{2, 4});
  CHECK(back("at_least = 3", sure).first == Positions{2, 4, 5});
  CHECK(back("at_least = 1\nat_most = 1", sure).first == Positions{2});
}

TEST_CASE("saber: the threshold is the mean so far, and what fell most is taken back") {
  for (const bool likeliest : {false, true}) {
    CAPTURE(likeliest);
    TakingBack steps("saber", likeliest ? "watch = likeliest" : "", 7, 0);
    const Verdict first = steps.says({.9, .8, .5, .5, .5, .5, .5}, {}).take();
    CHECK(TakingBack::positions(first.commits) == Positions{0, 1});  // None is above 1.
    CHECK(first.taken_back.empty());
    // The mean is .85. Token 0 fell by .4 at position 0 and by .7 at 1, where token 1 has .9.
    const Verdict second =
        steps.says({.9, .86, .87, .5, .5}, {of({.5, .5, 0}), of({.1, .9, 0})}).take();
    CHECK(TakingBack::positions(second.commits) == Positions{2, 4, 3});
    CHECK(TakingBack::positions(second.taken_back) == Positions{likeliest ? 0 : 1});
    // The mean of (.9, .8, .9, .87, .86) is .866: what was taken back counts.
    const Verdict third = steps.says({.867, .865, .865}, {}).choose();
    CHECK(TakingBack::positions(third.commits).size() == 2);
    const std::string before = steps.unmasker->state();
    steps.take();
    CHECK(steps.unmasker->state() != before);
  }
}

TEST_CASE("saber: of what a step commits an eighth is taken back, rounded up") {
  // Nine of ten are above the mean of .6; both tokens that stand have fallen. Half of `least` is 1.
  const auto back = [](std::initializer_list<double> drafts) {
    TakingBack steps("saber", "", 14, 0);
    steps.says({.6, .6, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5}, {}).take();
    const Verdict verdict = steps.says(drafts, {of({.1, .9, 0}), of({.2, .8, 0})}).choose();
    return std::pair(verdict.commits.size(), TakingBack::positions(verdict.taken_back));
  };
  CHECK(back({.9, .9, .9, .9, .9, .9, .9, .9, .9, .5, .5, .5}) ==
        std::pair(std::size_t{9}, Positions{0, 1}));
  CHECK(back({.9, .9, .9, .9, .9, .9, .9, .9, .5, .5, .5, .5}) ==
        std::pair(std::size_t{8}, Positions{0}));
}

// From half to six tenths of the tokens, sigma = .1: masks are filled with probability .3.
TEST_CASE("remdm: masks are filled and tokens taken back as the schedule says") {
  constexpr int kLength = 2000;
  const auto at_step = [&](int made, const std::string& options, int held) {
    auto step = std::make_unique<TakingBack>("remdm", options, kLength, held, 10);
    Verdict one;
    one.commits = {{0, 0}};
    for (int i = 0; i < made; ++i) step->unmasker->observe(step->scripted.canvas, {}, one);
    for (const std::int32_t position : step->scripted.window.positions) {
      step->proposal.nodes.push_back({kRoot, position, 0});
      step->proposal.raw.push_back(of({.5, .5, 0}));
    }
    return step->choose();
  };
  const auto share = [](const std::vector<Commit>& tokens, int of) {
    return static_cast<double>(tokens.size()) / of;
  };
  const Verdict cap = at_step(5, "eta = 0.1", kLength / 2);
  CHECK(std::abs(share(cap.commits, kLength / 2) - .3) < .05);
  CHECK(std::abs(share(cap.taken_back, kLength / 2) - .1) < .03);
  // The largest sigma is (1 - .6) / .5 = .8.
  const Verdict rescaled = at_step(5, "sigma = rescale\neta = 0.5", kLength / 2);
  CHECK(std::abs(share(rescaled.taken_back, kLength / 2) - .4) < .05);
  CHECK(std::abs(share(rescaled.commits, kLength / 2) - .6) < .05);
  CHECK(std::abs(share(at_step(5, "eta = 1", kLength / 2).taken_back, kLength / 2) - .8) < .05);
  const Verdict none = at_step(5, "eta = 0", kLength / 2);
  CHECK(none.taken_back.empty());
  CHECK(std::abs(share(none.commits, kLength / 2) - .2) < .05);
  const Verdict last = at_step(9, "eta = 1", kLength / 2);
  CHECK(last.commits.size() == kLength / 2);
  CHECK(last.taken_back.empty());
  CHECK(at_step(0, "eta = 1", 0).taken_back.empty());
}

// Two tokens were committed with confidences of .9 and .1: of the largest sigma the first one has
// the share exp(-.9) / (exp(-.9) + exp(-.1)) = .31.
TEST_CASE("remdm, confidence: the surer a commitment was, the rarer it is taken back") {
  int first = 0, second = 0;
  constexpr int kDecodes = 4000;
  for (int seed = 0; seed < kDecodes; ++seed) {
    TakingBack steps("remdm", "sigma = confidence", 4, 0, 2);
    steps.scripted.chance = SampledChance(static_cast<std::uint64_t>(seed));
    steps.says({.9, .1, .5, .5}, {});
    Verdict verdict;
    verdict.commits = {{0, 0}, {1, 0}};
    for (const Commit& commit : verdict.commits)
      steps.scripted.canvas.commit(commit.position, commit.token, true);
    verdict.proposal = &steps.proposal;
    steps.unmasker->observe(steps.scripted.canvas, {}, verdict);
    steps.scripted.window.positions = {2, 3};
    CHECK(steps.says({.5, .5}, {}).choose().taken_back.empty());  // The last of two steps.
    TakingBack longer("remdm", "sigma = confidence", 4, 0, 3);
    longer.scripted.chance = SampledChance(static_cast<std::uint64_t>(seed));
    longer.says({.9, .1, .5, .5}, {});
    for (const Commit& commit : verdict.commits)
      longer.scripted.canvas.commit(commit.position, commit.token, true);
    verdict.proposal = &longer.proposal;
    longer.unmasker->observe(longer.scripted.canvas, {}, verdict);
    longer.scripted.window.positions = {2, 3};
    // From a third to two thirds: sigma is at most (1 / 3) / (1 / 3) = 1.
    for (const Commit& token : longer.says({.5, .5}, {}).choose().taken_back)
      ++(token.position == 0 ? first : second);
  }
  CHECK(std::abs(first / double{kDecodes} - .31) < .04);
  CHECK(std::abs(second / double{kDecodes} - .69) < .04);
}

// Nobody said how sure the commitment of token 0 was, that of token 1 had a confidence of .5: the
// first one has the share exp(-1) / (exp(-1) + exp(-.5)) = .378 of a largest sigma of 1.
TEST_CASE("remdm, confidence: a commitment of unknown confidence counts as a certain one") {
  int first = 0, all = 0;
  constexpr int kDecodes = 4000;
  for (int seed = 0; seed < kDecodes; ++seed) {
    TakingBack steps("remdm", "sigma = confidence", 4, 0, 3);
    steps.scripted.chance = SampledChance(static_cast<std::uint64_t>(seed));
    steps.says({.5, .5, .5, .5}, {});
    for (const std::int32_t position : {0, 1}) steps.scripted.canvas.commit(position, 0, true);
    Verdict verdict;
    verdict.commits = {{1, 0}};
    verdict.proposal = &steps.proposal;
    steps.unmasker->observe(steps.scripted.canvas, {}, verdict);
    steps.scripted.window.positions = {2, 3};
    for (const Commit& token : steps.says({.5, .5}, {}).choose().taken_back)
      ++all, first += token.position == 0;
  }
  CHECK(std::abs(first / double{kDecodes} - .378) < .04);
  CHECK(std::abs(all / double{kDecodes} - 1) < .06);
}

TEST_CASE("what a step owes is taken from the window's first block") {
  testing::ScriptedStep scripted(Canvas(4, {}));
  scripted.blocks = {.size = 2};
  const auto unmasker = testing::part(&Registries::unmaskers, "threshold");
  scripted.decode.threshold = 0.8;
  unmasker->begin(scripted.blocks, scripted.decode);
  scripted.window = {.positions = {1, 2, 3}, .span = 1, .block = 0};
  const auto chosen = [&](std::initializer_list<double> confidences) {
    Proposal proposal;
    for (const double p : confidences) {
      proposal.nodes.push_back({kRoot, scripted.window.positions[proposal.nodes.size()], 0});
      proposal.raw.push_back(of({p, 1 - p, 0}));
    }
    return TakingBack::positions(unmasker->choose(scripted.step(), proposal).commits);
  };
  CHECK(chosen({.3, .7, .5}) == Positions{1});
  CHECK(chosen({.3, .9, .5}) == Positions{2});  // What is sure is enough.
}

}  // namespace
}  // namespace draftlab
