#include "core/loop/session.h"

#include <doctest/doctest.h>

#include "core/base/error.h"
#include "tests/core/loop/toy.h"

namespace draftlab {
namespace {

TEST_CASE("questions of several sequences that are alike share one forward") {
  const Arm arm = toy::arm(false);
  const Models models = toy::models_of(arm);
  SampledChance one(1), two(1);
  Decoder first(arm, models, toy::prompt(3), {one, 0}),
      second(arm, models, toy::prompt(3), {two, 1});
  Asking<SampleRow> of_first = first.decode(), of_second = second.decode();
  of_first.start();
  of_second.start();
  Session* const both[] = {&first, &second};
  while (!of_first.done()) answer_pending(models, both);
  CHECK(of_second.done());
  const auto& model = static_cast<const toy::OfPositions&>(models.target());
  CHECK(model.batches == std::vector<std::size_t>{2, 2});
  CHECK(of_first.take().counts.nfe() == 2);
}

TEST_CASE("nobody can wait for something other than an answer") {
  const Arm arm = toy::arm(false);
  const Models models = toy::models_of(arm);
  SampledChance chance(1);
  Decoder decoder(arm, models, toy::prompt(3), {chance, 0});
  Session* const idle[] = {&decoder};
  CHECK_THROWS_AS(answer_pending(models, idle), Fault);
}

TEST_CASE("a text ends with its first generated end-of-text token") {
  Arm arm = toy::arm(false);
  arm.models.at("").make = [] {
    auto model = std::make_unique<toy::OfPositions>();
    model->stops = {2};
    return model;
  };
  const Models models = toy::models_of(arm);
  const auto text = [&](StopRule stop) {
    arm.decode.stop = stop;
    SampledChance chance(1);
    Decoder decoder(arm, models, toy::prompt(6), {chance, 0});
    const SampleRow row = drive(models, decoder, decoder.decode());
    return std::make_pair(decoder.text(), row.valid);
  };
  // The token of the prompt at position 0 does not count; the tokens before the end do.
  CHECK(text(StopRule::token) ==
        std::make_pair(std::vector<Token>{2, 1, 2, kNoToken, kNoToken, kNoToken}, 1));
  CHECK(text(StopRule::off) == std::make_pair(std::vector<Token>{2, 1, 2, 0, 1, 2}, 1));
}

TEST_CASE("ends of text are not read as less sure where there are none") {
  Arm arm = toy::arm(false);
  arm.decode.end_confidence = 0.5;
  const Models models = toy::models_of(arm);
  SampledChance chance(1);
  Prompt prompt = toy::prompt(3);
  CHECK_THROWS_WITH_AS(
      Decoder(arm, models, prompt, {chance, 0}),
      "decode.end_confidence = 0.5: neither model '' nor the task has an end of text", ConfigError);
  prompt.ends = {2};
  CHECK_NOTHROW(Decoder(arm, models, prompt, {chance, 0}));
}

TEST_CASE("a part that asks more than decode.questions is named") {
  struct Asks final : Drafter {
    Asking<Proposal> propose(const Step& step) const override {
      for (;;) {
        Question question;
        question.asks = {{kRoot, {step.window.positions.front()}}};
        const Answer answer = co_await step.ask(std::move(question));
      }
    }
  };
  Arm arm = toy::arm(false);
  arm.drafter = factory_of<Asks, Drafter>("asks");
  arm.decode.questions = 7;
  const Models models = toy::models_of(arm);
  SampledChance chance(1);
  Decoder decoder(arm, models, toy::prompt(3), {chance, 0});
  CHECK_THROWS_WITH_AS(drive(models, decoder, decoder.decode()),
                       "drafter 'asks' asks more than 7 questions in step 0, which is "
                       "decode.questions; it may ask for ever",
                       Fault);
  CHECK(static_cast<const toy::OfPositions&>(models.target()).batches.size() == 7);
}

}  // namespace
}  // namespace draftlab
