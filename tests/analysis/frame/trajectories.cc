#include "analysis/frame/trajectories.h"

#include <doctest/doctest.h>

#include <cmath>

namespace draftlab {
namespace {

using Order = std::vector<std::int32_t>;

// Steps of (position, confidence).
SampleRow sample_of(const std::vector<std::vector<std::pair<int, double>>>& steps,
                    int valid = 1000) {
  SampleRow sample;
  for (const auto& tokens : steps) {
    StepRow step;
    for (const auto& [position, confidence] : tokens) {
      TokenRow token;
      token.position = position;
      token.confidence = confidence;
      token.entropy = 1 - confidence;
      step.tokens.push_back(token);
    }
    step.committed = static_cast<std::int32_t>(tokens.size());
    sample.steps.push_back(step);
  }
  sample.valid = valid;
  return sample;
}

SampleRow sample_in_order(const Order& order) {
  std::vector<std::vector<std::pair<int, double>>> steps;
  for (const std::int32_t position : order) steps.push_back({{position, 0.5}});
  return sample_of(steps);
}

}  // namespace

TEST_CASE("positions count from the end of the prompt, a step as committed or from left to right") {
  const SampleRow sample = sample_of({{{12, 0.9}, {10, 0.8}}, {{11, 0.7}, {10, 0.7}}, {{13, 0.6}}},
                                     2);  // The second 10 is an edit.
  CHECK(generated_order(sample) == Order{2, 0, 1, 3});
  CHECK(generated_order(sample, {.ties = Ties::position}) == Order{0, 2, 1, 3});
  CHECK(generated_order(sample, {.past_end = false}) ==
        Order{0, 1});  // The third token is the first end token.
}

TEST_CASE("the tokens of one step count as committed, or from left to right") {
  const SampleRow sample = sample_of({{{2, 0.9}, {1, 0.8}, {0, 0.7}}, {{3, 0.6}}});
  const SampleRow committed = read_as(sample, {}),
                  sorted = read_as(sample, {.ties = Ties::position});
  CHECK(committed.steps[0].tokens[0].position == 2);
  CHECK(committed.ar_local == 0);
  CHECK(sorted.steps[0].tokens[0].position == 0);
  CHECK(sorted.steps[0].tokens[0].confidence == 0.7);
  CHECK(sorted.ar_local == 0.5);
  CHECK(sorted.steps[1].tokens[0].ar_local == 1);
  RunRow run;
  const std::string text = trajectories({run}, {sample}, {.ties = Ties::position});
  // This row is S2D2's local AR-ness.
  CHECK(text.find("1.000 1.000 1.000 0.000") != std::string::npos);
  CHECK(trajectories({run}, {sample}).find("1.000 1.000 1.000 0.000") == std::string::npos);
}

TEST_CASE("which commitments end a chain, from the first that can") {
  CHECK(ends_chains(Order{0, 1, 2, 3, 5, 4}, 2) == std::vector<int>{-1, -1, 1, 1, 0, 0});
  CHECK(ends_chains(Order{2, 1, 0}, 1) == std::vector<int>{-1, 0, 0});
  CHECK(ends_chains(Order{7}, 2) == std::vector<int>{-1});
}

TEST_CASE("AR-ness is a mean over samples, whatever their lengths") {
  // Left to right: 5/7 and 1. Of 2 1 3 5 4 6: 1/3 and 0. One token alone has no order.
  const std::vector<SampleRow> samples = {sample_in_order({1, 2, 3, 4, 5, 6, 7}),
                                          sample_in_order({2, 1, 3, 5, 4, 6}),
                                          sample_in_order({4})};
  const ArNess at = ar_ness(samples, 2);
  CHECK(at.samples == 2);
  CHECK(at.local_diffucoder == doctest::Approx((5.0 / 7 + 1.0 / 3) / 2));
  CHECK(at.local_s2d2 == doctest::Approx(0.5));
  CHECK(at.global == 1);
  CHECK(ar_ness(samples, 1).global == doctest::Approx((1 + 4.0 / 6) / 2));
  CHECK(at.tau == doctest::Approx((1 + 11.0 / 15) / 2));  // Two of fifteen pairs descend.
  CHECK(std::isnan(ar_ness(std::span(samples).last(1), 2).tau));
}

TEST_CASE("the course of a decode over its normalised steps") {
  // Four steps in two parts; a decode of two steps weighs by its tokens.
  const std::vector<SampleRow> samples = {
      sample_of({{{0, 0.2}}, {{1, 0.4}}, {{2, 0.6}, {3, 1.0}}, {{4, 0.8}}}),
      sample_of({{{0, 0.6}, {1, 0.6}}, {{2, std::nan("")}}})};
  const Course at = course(samples, 2);
  CHECK(at.confidence[0] == doctest::Approx((0.2 + 0.4 + 0.6 + 0.6) / 4));
  CHECK(at.confidence[1] ==
        doctest::Approx((0.6 + 1.0 + 0.8) / 3));  // What was not measured is left out.
  CHECK(at.entropy[0] == doctest::Approx(1 - 0.45));
  CHECK(at.tokens[0] == doctest::Approx(4.0 / 3));  // One arm has 1 and 1, the other has 2.
  CHECK(at.tokens[1] == doctest::Approx(4.0 / 3));  // One arm has 2 and 1, the other has 1.
}

TEST_CASE("acceptance along a decode is of judged drafts that are not the target's own") {
  SampleRow sample = sample_in_order({0, 1});
  sample.steps[0].exact = 1;
  for (const auto& [depth, accepted] : {std::pair{0, 1}, {1, 1}, {2, 0}, {3, -1}}) {
    DraftRow draft;
    draft.depth = depth;
    draft.accepted = accepted;
    sample.steps[0].drafts.push_back(draft);
  }
  const Course at = course(std::vector<SampleRow>{sample}, 2);
  CHECK(at.accepted[0] == 0.5);  // Depth 0 is the target's own draw, depth 3 was not judged.
  CHECK(std::isnan(at.accepted[1]));
  RunRow run;
  CHECK(trajectories({run}, {sample}).find("accepted") != std::string::npos);
  // What was measured nowhere has no line.
  CHECK(trajectories({run}, {sample_in_order({0, 1})}).find("accepted") == std::string::npos);
}

TEST_CASE("parts without a step say so") {
  const std::vector<SampleRow> samples = {sample_in_order({0, 1})};
  const Course at = course(samples, 4);  // Middles at 1/4 and 3/4.
  CHECK(std::isnan(at.tokens[0]));
  CHECK(at.tokens[1] == 1);
  CHECK(std::isnan(at.tokens[2]));
  CHECK(at.tokens[3] == 1);
}

TEST_CASE("both as text, an arm a row") {
  RunRow run;
  run.arm = "unmasker=static";
  const std::string text = trajectories({run}, {sample_in_order({1, 2, 3, 4, 5, 6, 7})});
  CHECK(text.find("unmasker=static") != std::string::npos);
  CHECK(text.find("0.857 0.714 0.571 0.429") !=
        std::string::npos);  // DiffuCoder's local AR-ness is 6, 5, 4 and 3 of 7.
  CHECK(text.find("1.000 1.000 1.000 1.000") != std::string::npos);
}

}  // namespace draftlab
