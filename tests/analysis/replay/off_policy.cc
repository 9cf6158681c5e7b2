// Off-policy estimates against what is enumerated, and by hand.
#include "analysis/replay/off_policy.h"

#include <doctest/doctest.h>

#include "tests/analysis/replay/off_policy_coverage.h"
#include "tests/analysis/traces.h"

namespace draftlab {
namespace {

const OffPolicyValue& of_router(const Replay& replay, const std::string& router) {
  for (const OffPolicyValue& value : replay.values)
    if (value.router == router) return value;
  throw Fault("no value of " + router);
}

// Writes texts of two steps. Each step was verified with probability 0.8 in 2 forwards, else it
// took 1; text i verified the steps whose bits are set in i % 4.
void write_by_hand(const std::string& path, int texts, double propensity = 0.8) {
  MadeArm arm;
  arm.steps = 2, arm.drafted = 3;
  TraceWriter writer(path, {{}, {made_run(arm)}}, TraceOptions{}, false);
  for (int text = 0; text < texts; ++text) {
    SampleRow row = made_sample(arm, 0, text, 0);
    for (int s = 0; s < 2; ++s) {
      StepRow& step = row.steps[static_cast<std::size_t>(s)];
      const bool verified = text >> s & 1;
      step.verified = step.routed = verified;
      step.propensity = verified ? propensity : 1 - propensity;
      if (propensity == 1) step.propensity = 1;
      if (verified) continue;
      row.counts[Kind::verify].calls -= step.counts[Kind::verify].calls;
      step.counts[Kind::verify] = {};
    }
    writer.sample(std::move(row));
  }
  writer.close();
}

}  // namespace

TEST_CASE("weights of whole texts give what another router would have cost, by hand") {
  const TraceFolder folder("off-policy-hand");
  write_by_hand(folder / "a.h5", 400);
  const Replay result = replay(Frame({folder / "a.h5"}), {});
  const OffPolicyValue& always = of_router(result, "always");
  CHECK(always.refused.empty());
  // A quarter of the texts verified twice, and has the weight 1 / 0.8^2; those that verified first
  // alone have 1 / 0.8 until the second decision.
  CHECK(always.inverse.value == doctest::Approx((2 / 0.8 + 2 / 0.64 + 2 / 0.8) / 4));
  CHECK(always.normalised.value == doctest::Approx(4));
  CHECK(always.effective == doctest::Approx(100));
  CHECK(of_router(result, "never").normalised.value == doctest::Approx(2));

  write_by_hand(folder / "few.h5", 160);
  CHECK(of_router(replay(Frame({folder / "few.h5"}), {}), "always").refused ==
        "the log is worth 40.0 texts of it, fewer than 50");
  write_by_hand(folder / "certain.h5", 400, 1);
  CHECK(of_router(replay(Frame({folder / "certain.h5"}), {}), "always").refused ==
        "no decision was left to chance (router = explore does that, and logs how)");
}

TEST_CASE("arms that cannot be estimated for one reason are named once") {
  const auto refused = [](const std::string& arm, const std::string& router) {
    OffPolicyValue value;
    value.arm = arm, value.router = router, value.refused = "nothing was tried";
    return value;
  };
  CHECK(off_policy_table({refused("a", "always"), refused("a", "never"), refused("b", "always"),
                          refused("b", "never"), refused("c", "never")}) ==
        "\nNo estimate of what a router would have cost, for always, never in arms 'a', 'b'; never "
        "in arm 'c': nothing was tried.\n");
  CHECK(off_policy_table({refused("", "always"), refused("", "never")}) ==
        "\nNo estimate of what a router would have cost, for always, never: nothing was tried.\n");
}

TEST_CASE("off-policy intervals hold what is enumerated") {
  OffPolicyCoverage coverage(0.5);
  CHECK(coverage.truth("always") != doctest::Approx(coverage.truth("never")).epsilon(0.02));
  constexpr int kLogs = 25;
  const auto held = coverage.run(kLogs, 300);
  for (const std::string router : {"always", "never", "hysteresis"}) {
    CAPTURE(router);
    const OffPolicyCoverage::Held& of = held.at(router);
    CHECK(of.refused < kLogs / 4);
    const int logs = of.logs - of.refused;
    for (std::size_t i = 0; i < of.held.size(); ++i) {
      CAPTURE(i);
      CAPTURE(of.mean[i]);
      // 76 % of 25 lie four standard deviations below 95 %; tests/off_policy_coverage.cc has more.
      CHECK(of.held[i] >= 0.76 * logs);
      CHECK(std::abs(of.mean[i] - of.truth) < 4 * of.spread[i] / std::sqrt(logs));
    }
    // The doubly robust estimate varies less than the inverse propensity estimate.
    CHECK(of.spread[2] < of.spread[0]);
  }
}

}  // namespace draftlab
