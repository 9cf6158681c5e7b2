#include "core/loop/end_penalty.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/loop/load_models.h"
#include "tests/core/loop/toy.h"

namespace draftlab {
namespace {

// What the model answers at positions 0 and 1 of an empty canvas. Token i mod 3 has probability 0.8
// at position i, and the others 0.1 each.
Answer asked(Model& model, Counts* counts = nullptr) {
  const Canvas canvas(4, {});
  const auto sequence = model.open(canvas);
  const Question question{.kind = Kind::draft, .nodes = {}, .asks = {{kRoot, {0, 1}}}};
  Answer answer;
  Pending pending{sequence.get(), &question, &answer};
  model.answer({&pending, 1});
  if (counts) *counts = sequence->counts();
  return answer;
}

std::shared_ptr<toy::OfPositions> ending_with(std::vector<Token> stops) {
  auto model = std::make_shared<toy::OfPositions>();
  model->stops = std::move(stops);
  return model;
}

TEST_CASE("a penalty takes nats off the log probability of an end, and normalises") {
  const auto model = with_end_penalty(ending_with({1}), std::log(4));
  Counts counts;
  const Answer answer = asked(*model, &counts);
  CHECK(answer.at(kRoot, 1).probability(1) == doctest::Approx(0.5));
  CHECK(answer.at(kRoot, 1).probability(0) == doctest::Approx(0.25));
  CHECK(answer.at(kRoot, 0).probability(1) == doctest::Approx(0.1 / 4 / 0.925));
  CHECK(answer.at(kRoot, 0).probability(0) == doctest::Approx(0.8 / 0.925));
  CHECK(counts.nfe() == 1);
  CHECK(model->facts().stops == std::vector<Token>{1});
}

TEST_CASE("all ends are penalised, and a law of ends alone stays") {
  const auto model = with_end_penalty(ending_with({0, 1, 2}), 1000);
  CHECK(asked(*model).at(kRoot, 1).probability(1) == doctest::Approx(0.8));
}

TEST_CASE("a model without an end has no penalty") {
  CHECK_THROWS_WITH_AS(with_end_penalty(ending_with({}), 1),
                       "decode.end_penalty = 1: the model '' has no end-of-text token",
                       ConfigError);
}

TEST_CASE("the models of an arm have its penalty, and arms without one share the model as it is") {
  Loaded loaded;
  Arm arm;
  arm.models[""] = {"ending", {}, [] {
                      auto model = std::make_unique<toy::OfPositions>();
                      model->stops = {1};
                      return model;
                    }};
  arm.models["draft"] = {"endless", {}, [] { return std::make_unique<toy::OfPositions>(); }};
  const auto ends = [&](const std::string& role) {
    const Models models = load_models(arm, {}, loaded);
    return asked(*models.models[role.empty() ? 0 : 1]).at(kRoot, 1).probability(1);
  };
  CHECK(ends("") == doctest::Approx(0.8));
  arm.decode.end_penalty = std::log(4);
  CHECK(ends("") == doctest::Approx(0.5));
  CHECK(ends("draft") == doctest::Approx(0.8));
  arm.decode.end_penalty = 0;
  CHECK(ends("") == doctest::Approx(0.8));
}

}  // namespace
}  // namespace draftlab
