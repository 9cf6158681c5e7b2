#include "core/loop/choice.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/base/error.h"
#include "tests/core/loop/toy.h"

namespace draftlab {
namespace {

// Position i gives token i mod 3 probability 0.8; choices stand from position 1 on.
SampleRow chosen(std::vector<std::vector<Token>> choices) {
  const Arm arm = toy::arm(true);
  const Models models = toy::models_of(arm);
  Prompt prompt = toy::prompt(5);
  prompt.choices = std::move(choices);
  Choice choice(arm, models, prompt);
  return drive(models, choice, choice.decode());
}

std::vector<Token> tokens_of(const StepRow& step) {
  std::vector<Token> tokens;
  for (const TokenRow& token : step.tokens) tokens.push_back(token.token);
  return tokens;
}

TEST_CASE("the most probable choice is taken, whichever token tells it from the others") {
  CHECK(tokens_of(chosen({{1, 0, 0}, {1, 2, 0}, {0, 2, 0}}).steps[0]) ==
        std::vector<Token>{1, 2, 0});
  CHECK(tokens_of(chosen({{0, 2, 0}, {1, 2, 0}}).steps[0]) == std::vector<Token>{1, 2, 0});
  CHECK(tokens_of(chosen({{1, 2, 1}, {1, 2, 0}}).steps[0]) == std::vector<Token>{1, 2, 0});
  // Lengths count for nothing: one likely token beats two.
  CHECK(tokens_of(chosen({{1, 2}, {1}}).steps[0]) == std::vector<Token>{1});
}

TEST_CASE("a choice is one question, and its row one step that accepted all of the text") {
  const SampleRow row = chosen({{1, 2}, {0, 0}});
  CHECK(row.counts.nfe() == 1);
  CHECK(row.generated == 2);
  REQUIRE(row.steps.size() == 1);
  CHECK(row.steps[0].drafted == 2);
  CHECK(row.steps[0].committed == 2);
  CHECK(row.steps[0].accepted == 2);
  CHECK(row.steps[0].masked == 4);
  for (const DraftRow& draft : row.steps[0].drafts) {
    CHECK(draft.p == doctest::Approx(0.8));
    CHECK(draft.accepted == 1);
    CHECK(draft.q == 1);
  }
}

TEST_CASE("the drafts of a choice have the numbers of the target's distributions") {
  const SampleRow row = chosen({{1, 0}});
  REQUIRE(row.steps[0].drafts.size() == 2);
  const DraftRow &likely = row.steps[0].drafts[0], &unlikely = row.steps[0].drafts[1];
  CHECK(likely.confidence == doctest::Approx(0.8));
  CHECK(unlikely.confidence == doctest::Approx(0.1));
  CHECK(unlikely.margin == doctest::Approx(0.7));
  CHECK(unlikely.top.empty());
}

TEST_CASE("a choice that does not fit is a fault, and one without chains is refused") {
  CHECK_THROWS_WITH_AS(chosen({{1}, {}}), "a choice of 0 tokens for 4 positions", Fault);
  CHECK_THROWS_WITH_AS(chosen({{1, 2, 0, 1, 2}}), "a choice of 5 tokens for 4 positions", Fault);
  struct AsksNothing final : Verifier {
    Asking<Verdict> judge(const Step&, const Proposal&, const Acceptance&) const override {
      co_return Verdict{};
    }
  };
  Arm arm = toy::arm(true);
  arm.verifier = factory_of<AsksNothing, Verifier>("asks-nothing");
  const Models models = toy::models_of(arm);
  Prompt prompt = toy::prompt(3);
  prompt.choices = {{1}};
  Choice choice(arm, models, prompt);
  CHECK_THROWS_AS(drive(models, choice, choice.decode()), ConfigError);
}

TEST_CASE("a prompt with choices is decoded by a choice, and any other by the loop") {
  const Arm arm = toy::arm(true);
  const Models models = toy::models_of(arm);
  SampledChance chance(1);
  Prompt prompt = toy::prompt(3);
  CHECK(dynamic_cast<Decoder*>(session_of(arm, models, prompt, {chance, 0}).get()) != nullptr);
  prompt.choices = {{1}};
  CHECK(dynamic_cast<Choice*>(session_of(arm, models, prompt, {chance, 0}).get()) != nullptr);
}

}  // namespace
}  // namespace draftlab
