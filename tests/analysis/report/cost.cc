#include "analysis/report/cost.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/base/error.h"
#include "tests/analysis/traces.h"

namespace draftlab {

TEST_CASE("the acceptance at which drafts commit so many tokens") {
  CHECK(acceptance_for(1, 4) == 0);
  CHECK(acceptance_for(2, 2) == doctest::Approx(1));
  // That is 1 + a + a^2 = 2.
  CHECK(acceptance_for(2, 3) == doctest::Approx((std::sqrt(5.0) - 1) / 2));
  CHECK(acceptance_for(1.75, 3) == doctest::Approx(0.5));
  CHECK(std::isinf(acceptance_for(4.5, 4)));
}

TEST_CASE("a forward takes the longer of weights and products") {
  // That is 4 MB at 1 GB/s.
  const MachineSpeed machine{1e9, 1e12};
  CHECK(machine.forward(1, {1e6, 4}) == doctest::Approx(0.004));
  CHECK(machine.forward(1e4, {1e6, 4}) ==
        doctest::Approx(0.02));  // That is 2e10 operations at 1 TFLOP/s.
}

TEST_CASE("costs of two arms") {
  // Stepwise: 24 steps of a forward of 1 position, 1.1 ms. Speculative: 8 steps that draft 4 in 1.4
  // ms and verify 8 positions in 1.8 ms (the fixture's 1 ms + 0.1 ms a position), accept 2 and
  // commit 3.
  const TraceFolder folder("cost");
  MadeArm base{.id = "s",
               .label = "drafter=stepwise",
               .config = "drafter = stepwise\n",
               .steps = 24,
               .drafted = 1,
               .verified = false,
               .seconds = 0.048};
  MadeArm arm{.id = "f",
              .label = "drafter=self",
              .config = "drafter = self\n",
              .steps = 8,
              .seconds = 0.032};
  write_arms(folder / "a.h5", {base, arm});
  const Frame frame({folder / "a.h5"});
  CostRequest request;
  // That is 1,000 parameters of 4 bytes: 4 ms to read; 2 ms a position.
  request.machine = {1e6, 1e6};
  const std::vector<Cost> list = costs(frame, request);
  REQUIRE(list.size() == 2);
  const Cost& cost = list[1];
  CHECK(cost.forwards_per_step == 2);
  CHECK(cost.positions_per_step == 12);
  CHECK(cost.tokens_per_step == 3);
  CHECK(cost.drafts_per_step == 4);
  CHECK(cost.tokens_per_forward == doctest::Approx(1.5));
  // A step costs two forwards of the baseline, one a token: 1 + a + a^2 + a^3 = 2.
  CHECK(std::pow(cost.break_even_forwards, 3) + std::pow(cost.break_even_forwards, 2) +
            cost.break_even_forwards ==
        doctest::Approx(1));
  CHECK(cost.break_even_seconds ==
        doctest::Approx(cost.break_even_forwards));  // That is 4 ms a step, 2 ms a token.
  // That is 1 + a + a^2 + a^3 = 3.
  CHECK(cost.acceptance == doctest::Approx(0.8105).epsilon(1e-3));
  CHECK(cost.ideal_speedup == doctest::Approx(1.5));
  CHECK(cost.speedup == doctest::Approx(1.5));
  CHECK(cost.model_speedup == doctest::Approx(24 * 1.1 / (8 * 3.2)));
  CHECK(cost.seconds_of_forward.intercept.value == doctest::Approx(0.001));
  CHECK(cost.seconds_of_forward.slope.value == doctest::Approx(0.0001));
  CHECK(cost.seconds_of_forward.r2 == doctest::Approx(1));
  CHECK(list[0].machine_seconds == doctest::Approx(0.004));  // Reading bounds one position.
  CHECK(cost.machine_seconds ==
        doctest::Approx((0.008 + 0.016) / 3));  // Products bound four and eight.
  const std::string text = cost_tables(frame, request);
  CHECK(text.find("a machine of 0.0 GB/s and 0.000 TFLOP/s that") != std::string::npos);
  // The fit: 1 ms a forward and 0.1 ms a position.
  CHECK(text.find("0.10000") != std::string::npos);
  CHECK(std::isnan(cost.predicted));  // Nothing to fit to.
}

TEST_CASE("costs are compared with the baseline wherever it stands") {
  const TraceFolder folder("cost");
  const MadeArm base{.id = "s",
                     .label = "drafter=stepwise",
                     .config = "drafter = stepwise\n",
                     .steps = 24,
                     .drafted = 1,
                     .verified = false,
                     .seconds = 0.048},
      arm{.id = "f",
          .label = "drafter=self",
          .config = "drafter = self\n",
          .steps = 8,
          .seconds = 0.032};
  write_arms(folder / "a.h5", {arm, base});
  const std::vector<Cost> list = costs(Frame({folder / "a.h5"}), {});
  REQUIRE(list.size() == 2);
  // The baseline is listed first.
  CHECK(list[0].speedup == doctest::Approx(1));
  CHECK(list[0].ideal_speedup == doctest::Approx(1));
  CHECK(list[1].speedup == doctest::Approx(1.5));
  CHECK(list[1].ideal_speedup == doctest::Approx(1.5));
}

TEST_CASE("seconds are fitted to the positions of one forward, where a step has several") {
  // Each step drafts in two forwards of two positions, and verifies in one of eight: 1 ms, and 0.1
  // ms a position.
  const TraceFolder folder("cost");
  const MadeArm one{.id = "s",
                    .label = "drafter=stepwise",
                    .config = "drafter = stepwise\n",
                    .steps = 24,
                    .drafted = 1,
                    .verified = false,
                    .seconds = 0.0264};
  MadeArm two{.id = "t",
              .label = "drafter=self",
              .config = "drafter = self\n",
              .steps = 8,
              .drafted = 4,
              .seconds = 0.0336};
  two.draft_calls = 2;
  write_arms(folder / "a.h5", {one, two});
  const std::vector<Cost> list = costs(Frame({folder / "a.h5"}), {});
  CHECK(list[1].forwards_per_step == 3);
  CHECK(list[1].seconds_of_forward.intercept.value == doctest::Approx(0.001));
  CHECK(list[1].seconds_of_forward.slope.value == doctest::Approx(0.0001));
}

TEST_CASE("an arm's seconds by a fit to the others") {
  // 1 ms a forward and 0.1 ms a position, as in the fixture: 24 forwards of one, or 8 of d drafts
  // and 8 that verify 2 d.
  const TraceFolder folder("cost-fit");
  std::vector<MadeArm> arms = {{.id = "s",
                                .label = "drafter=stepwise",
                                .config = "drafter = stepwise\n",
                                .steps = 24,
                                .drafted = 1,
                                .verified = false,
                                .seconds = 0.0264}};
  for (const int drafts : {2, 3, 4, 5}) {
    const std::string name = std::to_string(drafts);
    arms.push_back({.id = name,
                    .label = "decode.draft_length=" + name,
                    .config = "drafter = self\n[decode]\ndraft_length = " + name + "\n",
                    .steps = 8,
                    .drafted = drafts,
                    .seconds = 0.016 + 0.0001 * 24 * drafts});
  }
  write_arms(folder / "a.h5", arms);
  for (const Cost& cost : costs(Frame({folder / "a.h5"}), {}))
    CHECK(cost.predicted == doctest::Approx(1));
  arms.back().seconds *= 2;
  write_arms(folder / "b.h5", arms);
  CHECK(costs(Frame({folder / "b.h5"}), {}).back().predicted == doctest::Approx(0.5));
}

TEST_CASE("costs of a sweep's cells count forwards and compare no times") {
  const TraceFolder folder("cost");
  const std::vector<MadeArm> arms = {{.id = "s",
                                      .label = "drafter=stepwise",
                                      .config = "drafter = stepwise\n",
                                      .steps = 24,
                                      .drafted = 1,
                                      .verified = false,
                                      .seconds = 2},
                                     {.id = "f",
                                      .label = "drafter=self",
                                      .config = "drafter = self\n",
                                      .steps = 8,
                                      .seconds = 0.5}};
  write_arms(folder / "run.h5", arms);
  write_sweep(folder / "sweep.h5", arms);
  const std::vector<Cost> run = costs(Frame({folder / "run.h5"}), {}),
                          sweep = costs(Frame({folder / "sweep.h5"}), {});
  CHECK(run[1].speedup == doctest::Approx(4));
  CHECK(std::isnan(sweep[1].speedup));
  CHECK(std::isnan(sweep[1].model_speedup));
  CHECK(sweep[1].ideal_speedup == doctest::Approx(run[1].ideal_speedup));
  const std::string text = cost_tables(Frame({folder / "sweep.h5"}), {});
  CHECK(text.find("Seconds are not compared: ") != std::string::npos);
  CHECK(cost_tables(Frame({folder / "run.h5"}), {}).find("not compared") == std::string::npos);
}

}  // namespace draftlab
