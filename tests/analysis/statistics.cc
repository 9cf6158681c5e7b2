#include "analysis/statistics.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/chance.h"
#include "core/error.h"

namespace draftlab {
namespace {

using Values = std::vector<double>;

double uniform(int replicate, int index, std::uint32_t what) {
  return SampledChance::uniform(7, {.position = index, .purpose = Purpose::choice, .clock = static_cast<std::uint32_t>(replicate), .attempt = what});
}

// A standard normal (Box-Muller).
double normal(int replicate, int index, std::uint32_t what) {
  return std::sqrt(-2 * std::log(1 - uniform(replicate, index, what))) * std::cos(2 * M_PI * uniform(replicate, index, what + 1));
}

}  // namespace

TEST_CASE("speedup is a ratio of sums, not a mean of ratios") {
  const Values baseline = {10, 1}, arm = {5, 2};
  CHECK(speedup(baseline, arm).value == doctest::Approx(11.0 / 7));  // the mean of ratios would be 1.25
}

TEST_CASE("arms that cost a constant share have an interval of no width") {
  const Values baseline = {4, 8, 6, 2, 10}, arm = {2, 4, 3, 1, 5};
  const Estimate estimate = speedup(baseline, arm);
  CHECK(estimate.value == doctest::Approx(2));
  CHECK(estimate.interval.low == doctest::Approx(2));
  CHECK(estimate.interval.high == doctest::Approx(2));
}

TEST_CASE("an interval is the same every time, and another for another seed") {
  Values baseline, arm;
  for (int i = 0; i < 30; ++i) {
    baseline.push_back(1 + uniform(0, i, 0));
    arm.push_back(0.5 + uniform(0, i, 1));
  }
  const Estimate once = speedup(baseline, arm), again = speedup(baseline, arm), other = speedup(baseline, arm, 0.95, {2000, 2});
  CHECK(once.interval.low == again.interval.low);
  CHECK(once.interval.low != other.interval.low);
  CHECK(once.interval.low < once.value);
  CHECK(once.value < once.interval.high);
  const Estimate narrow = speedup(baseline, arm, 0.5);
  CHECK(narrow.interval.high - narrow.interval.low < once.interval.high - once.interval.low);
}

TEST_CASE("too little to compare is said, not guessed") {
  CHECK(std::isnan(speedup(Values{2}, Values{1}).interval.low));
  CHECK(speedup(Values{2}, Values{1}).value == 2);
  CHECK(std::isnan(speedup(Values{}, Values{}).value));
  CHECK(std::isnan(speedup(Values{1, 2}, Values{0, 0}).value));
  CHECK_THROWS_AS(speedup(Values{1, 2}, Values{1}), Fault);
}

TEST_CASE("the interval of the ratio covers at its level") {
  // Costs of prompts are log-normal and shared by both arms, the arms' own noise is 30 %; the true ratio is 2. Measured over
  // 3,000 replicates: 92.3 % at 20 prompts, 93.4 % at 40, 95.2 % at 200. Here 400 of 40, within three standard errors of 93.4 %.
  constexpr int kReplicates = 400, kPrompts = 40;
  int covered = 0;
  for (int replicate = 0; replicate < kReplicates; ++replicate) {
    Values baseline, arm;
    for (int i = 0; i < kPrompts; ++i) {
      const double cost = std::exp(0.5 * normal(replicate, i, 0));
      baseline.push_back(2 * cost * std::exp(0.3 * normal(replicate, i, 2)));
      arm.push_back(cost * std::exp(0.3 * normal(replicate, i, 4)));
    }
    const Interval interval = speedup(baseline, arm, 0.95, {400, 1}).interval;
    covered += interval.low <= 2 && 2 <= interval.high;
  }
  CHECK(covered >= 0.897 * kReplicates);
  CHECK(covered <= 0.971 * kReplicates);
}

TEST_CASE("paired difference has Student's interval") {
  const Values baseline = {1, 2, 3, 4}, arm = {2, 4, 4, 6};  // differences 1 2 1 2: mean 1.5, sd 0.57735, t(3) = 3.18245
  const Estimate estimate = difference(baseline, arm);
  CHECK(estimate.value == doctest::Approx(1.5));
  CHECK(estimate.interval.low == doctest::Approx(1.5 - 3.18245 * 0.57735 / 2).epsilon(1e-5));
  CHECK(estimate.interval.high == doctest::Approx(1.5 + 3.18245 * 0.57735 / 2).epsilon(1e-5));
}

TEST_CASE("equivalence needs the 90 % interval inside the margin") {
  const Values baseline = {0, 0, 0, 0}, arm = {-0.1, 0.1, -0.1, 0.1};  // sd 0.11547, t(3, 90 %) = 2.35336: reach 0.13587
  CHECK(equivalence(baseline, arm, 0.136).finding == Equivalence::Finding::equivalent);
  CHECK(equivalence(baseline, arm, 0.135).finding == Equivalence::Finding::undecided);
  const Values worse = {1.9, 2.1, 1.9, 2.1};
  CHECK(equivalence(baseline, worse, 1).finding == Equivalence::Finding::different);
  CHECK(equivalence(worse, baseline, 1).finding == Equivalence::Finding::different);
  CHECK(equivalence(baseline, worse, 3).finding == Equivalence::Finding::equivalent);
  CHECK(equivalence(Values{1}, Values{1}, 1).finding == Equivalence::Finding::undecided);  // one prompt shows nothing
}

TEST_CASE("at a true difference of the margin, equivalence is claimed no oftener than alpha") {
  constexpr int kReplicates = 2000, kPrompts = 30;
  int claimed = 0;
  for (int replicate = 0; replicate < kReplicates; ++replicate) {
    Values baseline(kPrompts, 0), arm;
    for (int i = 0; i < kPrompts; ++i) arm.push_back(0.5 + 0.5 * normal(replicate, i, 0));
    claimed += equivalence(baseline, arm, 0.5).finding == Equivalence::Finding::equivalent;
  }
  const double alpha = 0.05;
  CHECK(claimed <= kReplicates * (alpha + 3 * std::sqrt(alpha * (1 - alpha) / kReplicates)));
  CHECK(claimed > 0);
}

TEST_CASE("prompts needed") {
  CHECK(prompts_for_equivalence(1, 1) == doctest::Approx(8.564).epsilon(1e-3));
  CHECK(prompts_for_non_inferiority(1, 1) == doctest::Approx(6.183).epsilon(1e-3));
  // 15 % discordant answers, margins of 1, 2, 3 and 5 points.
  const double sd = std::sqrt(0.15);
  CHECK(prompts_for_equivalence(sd, 0.01) == doctest::Approx(12850).epsilon(1e-3));
  CHECK(prompts_for_equivalence(sd, 0.02) == doctest::Approx(3210).epsilon(1e-3));
  CHECK(prompts_for_equivalence(sd, 0.03) == doctest::Approx(1430).epsilon(3e-3));
  CHECK(prompts_for_equivalence(sd, 0.05) == doctest::Approx(514).epsilon(1e-3));
}

TEST_CASE("sign flips") {
  CHECK(sign_flip_p(Values{1, 1, 1, 1, 1}) == doctest::Approx(2.0 / 32));  // all plus or all minus
  CHECK(sign_flip_p(Values{1, 2, 3}) == doctest::Approx(2.0 / 8));
  CHECK(sign_flip_p(Values{3, -3}) == 1);
  CHECK(sign_flip_p({}) == 1);
  CHECK(sign_flip_p(Values(40, 0.1)) == doctest::Approx(1.0 / 10001));  // 2^-39 is not met in 10,000 draws, and p is never zero
  Values balanced;
  for (int i = 0; i < 40; ++i) balanced.push_back(i % 2 ? 1 : -1);
  CHECK(sign_flip_p(balanced) == 1);
}

TEST_CASE("Holm's adjustment") {
  const Values adjusted = holm(Values{0.04, 0.01, 0.03});
  CHECK(adjusted[1] == doctest::Approx(0.03));  // 3 x 0.01
  CHECK(adjusted[2] == doctest::Approx(0.06));  // 2 x 0.03
  CHECK(adjusted[0] == doctest::Approx(0.06));  // never below the one before
  CHECK(holm(Values{0.9, 0.8})[0] == 1);
}

}  // namespace draftlab
