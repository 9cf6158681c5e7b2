// The unmasker `renoise`, by hand: four masked positions, whose laws are over three tokens.
#include <doctest/doctest.h>

#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;
using Tokens = std::vector<std::pair<std::int32_t, Token>>;

struct Renoising {
  testing::ScriptedStep scripted{Canvas(4, {})};
  Proposal proposal;
  std::unique_ptr<Unmasker> unmasker;
  std::int64_t made = 0;

  explicit Renoising(const std::string& options, std::int64_t steps = 0) {
    unmasker = testing::part(&Registries::unmaskers, "renoise", options);
    scripted.decode.steps = steps;
    unmasker->begin(scripted.blocks, scripted.decode);
    scripted.window.positions = scripted.canvas.masked_positions();
  }
  // Token 2 is drafted everywhere; position i is token i mod 2 with probability peaks[i], else 2.
  Verdict take(const std::vector<double>& peaks) {
    proposal = {};
    for (std::size_t i = 0; i < peaks.size(); ++i) {
      proposal.nodes.push_back({kRoot, static_cast<std::int32_t>(i), 2});
      const double p = peaks[i], q = 1 - p;
      proposal.raw.push_back(i % 2 == 0 ? of({p, 0, q}) : of({0, p, q}));
    }
    const Step now = scripted.step();
    const Step step{.canvas = now.canvas,
                    .window = now.window,
                    .blocks = now.blocks,
                    .decode = now.decode,
                    .carry = now.carry,
                    .chance = now.chance,
                    .mailbox = now.mailbox,
                    .made = made++,
                    .vocabulary = now.vocabulary,
                    .target = now.target};
    Verdict verdict = unmasker->choose(step, proposal);
    verdict.proposal = &proposal;
    unmasker->observe(scripted.canvas, {}, verdict);
    return verdict;
  }
};

Tokens tokens_of(const std::vector<Commit>& commits) {
  Tokens tokens;
  for (const Commit& commit : commits) tokens.emplace_back(commit.position, commit.token);
  return tokens;
}

// Entropies in nats: .9 has .325, .99 has .056, .999 has .008.
TEST_CASE("renoise: draws of the lowest entropies are shown, the largest of them not counted") {
  Renoising steps("bound = 0.06", 9);
  CHECK(tokens_of(steps.take({.9, .99, .999, .6}).shown) == Tokens{{2, 2}, {1, 2}});
  // .008 + .056 = .064 is beyond the bound, so the third is not shown; the first always is.
  CHECK(tokens_of(steps.take({.6, .6, .6, .6}).shown) == Tokens{{0, 2}});
  CHECK(tokens_of(steps.take({.999, .9, .999, .999}).shown) ==
        Tokens{{0, 2}, {2, 2}, {3, 2}, {1, 2}});
  CHECK(tokens_of(Renoising("bound = 0", 9).take({.9, .99, .9, .9}).shown) == Tokens{{1, 2}});
}

TEST_CASE("renoise: the last step fills the block with the likeliest tokens, or with the draws") {
  const std::vector<double> sure(4, .6), unsure(4, .4);
  Renoising steps("", 2);
  CHECK(steps.take(sure).commits.empty());
  const Verdict last = steps.take(sure);
  CHECK(tokens_of(last.commits) == Tokens{{0, 0}, {1, 1}, {2, 0}, {3, 1}});
  CHECK(last.shown.empty());
  Renoising drawn("fill = drawn", 1);
  CHECK(tokens_of(drawn.take(sure).commits) == Tokens{{0, 2}, {1, 2}, {2, 2}, {3, 2}});
  Renoising as_many("");  // As many steps as positions.
  for (int step = 0; step < 3; ++step) CHECK(as_many.take(unsure).commits.empty());
  CHECK(as_many.take(unsure).commits.size() == 4);
}

TEST_CASE("renoise: a block ends early where it is stable and confident") {
  const std::vector<double> sure(4, .9999), unsure(4, .9), other = {.9999, .9999, .9999, .0001};
  const auto ended = [](const std::string& options, const std::vector<std::vector<double>>& laws) {
    Renoising steps(options, 9);
    std::size_t step = 0;
    while (step < laws.size() && steps.take(laws[step]).commits.empty()) ++step;
    return step;
  };
  CHECK(ended("", {sure, sure, sure}) == 1);
  CHECK(ended("", {unsure, sure, sure}) == 1);      // It was stable before it was confident.
  CHECK(ended("", {unsure, unsure, unsure}) == 3);  // Never.
  CHECK(ended("entropy = 0.4", {unsure, unsure}) == 1);
  CHECK(ended("", {sure, other, sure, sure}) == 3);
  CHECK(ended("stable = 2", {sure, sure, sure, sure}) == 2);
  CHECK(ended("stable = 2", {sure, sure, other, other, other}) == 4);
  CHECK(ended("stable = 0", {sure}) == 0);
  // The mean of three sure positions and one of .325 nats is .081.
  const std::vector<double> mostly = {.9999, .9999, .9, .9999};
  CHECK(ended("entropy = 0.083", {mostly, mostly}) == 1);
  CHECK(ended("entropy = 0.080", {mostly, mostly}) == 2);
}

TEST_CASE("renoise: a block begins without a memory of the one before") {
  Renoising steps("", 2);
  const std::vector<double> sure(4, .9999);
  const std::string before = steps.unmasker->state();
  steps.take(sure);
  CHECK(steps.unmasker->state() != before);
  steps.take(sure);
  CHECK(steps.unmasker->state() == before);
}

}  // namespace
}  // namespace draftlab
