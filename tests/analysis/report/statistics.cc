#include "analysis/report/statistics.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/prob/chance.h"

namespace draftlab {
namespace {

using Series = std::vector<double>;

double uniform(int replicate, int index, std::uint32_t what) {
  return SampledChance::uniform(7, {.position = index,
                                    .purpose = Purpose::choice,
                                    .clock = static_cast<std::uint32_t>(replicate),
                                    .attempt = what});
}

// A standard normal (Box-Muller).
double normal(int replicate, int index, std::uint32_t what) {
  return std::sqrt(-2 * std::log(1 - uniform(replicate, index, what))) *
         std::cos(2 * M_PI * uniform(replicate, index, what + 1));
}

// Twelve numbers.
Series alternating(double one, double other) {
  Series values;
  for (int i = 0; i < 6; ++i) values.insert(values.end(), {one, other});
  return values;
}

}  // namespace

TEST_CASE("speedup is a ratio of sums, not a mean of ratios") {
  const Series baseline = {10, 1}, arm = {5, 2};
  CHECK(speedup(baseline, arm).value ==
        doctest::Approx(11.0 / 7));  // The mean of ratios would be 1.25.
}

TEST_CASE("arms that cost a constant share have an interval of no width") {
  const Series baseline = {4, 8, 6, 2, 10}, arm = {2, 4, 3, 1, 5};
  const Estimate estimate = speedup(baseline, arm);
  CHECK(estimate.value == doctest::Approx(2));
  CHECK(estimate.interval.low == doctest::Approx(2));
  CHECK(estimate.interval.high == doctest::Approx(2));
}

TEST_CASE("an interval is the same every time, and another for another seed") {
  Series baseline, arm;
  for (int i = 0; i < 30; ++i) {
    baseline.push_back(1 + uniform(0, i, 0));
    arm.push_back(0.5 + uniform(0, i, 1));
  }
  const Estimate once = speedup(baseline, arm), again = speedup(baseline, arm),
                 other = speedup(baseline, arm, 0.95, {2000, 2});
  CHECK(once.interval.low == again.interval.low);
  CHECK(once.interval.low != other.interval.low);
  CHECK(once.interval.low < once.value);
  CHECK(once.value < once.interval.high);
  const Estimate narrow = speedup(baseline, arm, 0.5);
  CHECK(narrow.interval.high - narrow.interval.low < once.interval.high - once.interval.low);
}

TEST_CASE("too little to compare is said, not guessed") {
  CHECK(std::isnan(speedup(Series{2}, Series{1}).interval.low));
  CHECK(speedup(Series{2}, Series{1}).value == 2);
  CHECK(std::isnan(speedup(Series{}, Series{}).value));
  CHECK(std::isnan(speedup(Series{1, 2}, Series{0, 0}).value));
  CHECK_THROWS_AS(speedup(Series{1, 2}, Series{1}), Fault);
}

TEST_CASE("an interval needs the statistic of nearly all draws") {
  // One of 20 prompts has all that is divided by: .95^20 = 36 % of the draws leave it out.
  Series numerator, one(20, 0.0), all(20, 1.0);
  one[7] = 20;
  for (int i = 0; i < 20; ++i) numerator.push_back(i);
  const auto interval = [&](const Series& denominator) {
    const Series columns[] = {numerator, denominator};
    return cluster_bootstrap(columns,
                             [](std::span<const double> sums) {
                               return sums[1] > 0 ? sums[0] / sums[1] : std::nan("");
                             })
        .interval;
  };
  CHECK(std::isnan(interval(one).low));
  CHECK(std::isnan(interval(one).high));
  CHECK(interval(all).low > 0);
  CHECK(interval(all).high < 19);
}

TEST_CASE("the interval of the ratio covers at its level") {
  // Costs of prompts are log-normal and shared by both arms, the arms' own noise is 30 %; the true
  // ratio is 2. Measured over 3,000 replicates: 92.3 % at 20 prompts, 93.4 % at 40, 95.2 % at 200.
  // Here 400 of 40, within three standard errors of 93.4 %.
  constexpr int kReplicates = 400, kPrompts = 40;
  int covered = 0;
  for (int replicate = 0; replicate < kReplicates; ++replicate) {
    Series baseline, arm;
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
  const Series baseline = {1, 2, 3, 4},
               arm = {2, 4, 4, 6};  // Differences 1 2 1 2: mean 1.5, sd 0.57735, t(3) = 3.18245.
  const Estimate estimate = difference(baseline, arm);
  CHECK(estimate.value == doctest::Approx(1.5));
  CHECK(estimate.interval.low == doctest::Approx(1.5 - 3.18245 * 0.57735 / 2).epsilon(1e-5));
  CHECK(estimate.interval.high == doctest::Approx(1.5 + 3.18245 * 0.57735 / 2).epsilon(1e-5));
}

TEST_CASE("equivalence needs the 90 % interval inside the margin") {
  const Series baseline(12, 0.0),
      // The standard deviation is 0.104447 and t(11, 90 %) is 1.795885, so the interval reaches
      // 0.054148.
      arm = alternating(-0.1, 0.1);
  CHECK(equivalence(baseline, arm, 0.0542).finding == Equivalence::Finding::equivalent);
  CHECK(equivalence(baseline, arm, 0.0541).finding == Equivalence::Finding::undecided);
  // Each side of the interval is looked at: it goes from -0.0459 to -0.1541, or the reverse.
  const Series lower = alternating(-0.2, 0);
  CHECK(equivalence(baseline, lower, 0.154).finding == Equivalence::Finding::undecided);
  CHECK(equivalence(lower, baseline, 0.154).finding == Equivalence::Finding::undecided);
  CHECK(equivalence(lower, baseline, 0.155).finding == Equivalence::Finding::equivalent);
  const Series worse = alternating(1.9, 2.1);
  CHECK(equivalence(baseline, worse, 1).finding == Equivalence::Finding::different);
  CHECK(equivalence(worse, baseline, 1).finding == Equivalence::Finding::different);
  CHECK(equivalence(baseline, worse, 3).finding == Equivalence::Finding::equivalent);
}

TEST_CASE("few prompts, or prompts that all differ alike, are not judged") {
  const Series few = {0.1, 0.2, 0.1, 0.2, 0.1, 0.2, 0.1, 0.2, 0.1}, zeros(9, 0.0);
  CHECK(equivalence(zeros, few, 1).finding == Equivalence::Finding::unjudged);
  CHECK_FALSE(non_inferiority(zeros, few, 1).shown);
  const Series many(1000, 0.5);
  CHECK(equivalence(many, many, 1).finding == Equivalence::Finding::unjudged);
  CHECK_FALSE(non_inferiority(many, many, 1).shown);
}

TEST_CASE("at a true difference of the margin, equivalence is claimed no oftener than alpha") {
  constexpr int kReplicates = 2000, kPrompts = 30;
  int claimed = 0;
  for (int replicate = 0; replicate < kReplicates; ++replicate) {
    Series baseline(kPrompts, 0), arm;
    for (int i = 0; i < kPrompts; ++i) arm.push_back(0.5 + 0.5 * normal(replicate, i, 0));
    claimed += equivalence(baseline, arm, 0.5).finding == Equivalence::Finding::equivalent;
  }
  const double alpha = 0.05;
  CHECK(claimed <= kReplicates * (alpha + 3 * std::sqrt(alpha * (1 - alpha) / kReplicates)));
  CHECK(claimed > 0);
}

TEST_CASE("prompts needed") {
  // Away from zero, what is left of the margin has to be shown; nothing is left beyond it.
  CHECK(prompts_for_equivalence_at(0, 1, 1) == prompts_for_equivalence(1, 1));
  CHECK(prompts_for_equivalence_at(-0.5, 1, 1) == prompts_for_non_inferiority(1, 0.5));
  CHECK(std::isinf(prompts_for_equivalence_at(-1, 1, 1)));
  CHECK(std::isinf(prompts_for_non_inferiority_at(1.5, 1, 1)));
  CHECK(prompts_for_non_inferiority_at(-1, 1, 1) == prompts_for_non_inferiority(1, 2));
  CHECK(prompts_for_equivalence(1, 1) == doctest::Approx(8.564).epsilon(1e-3));
  CHECK(prompts_for_non_inferiority(1, 1) == doctest::Approx(6.183).epsilon(1e-3));
  // 15 % discordant answers, margins of 1, 2, 3 and 5 points.
  const double sd = std::sqrt(0.15);
  CHECK(prompts_for_equivalence(sd, 0.01) == doctest::Approx(12850).epsilon(1e-3));
  CHECK(prompts_for_equivalence(sd, 0.02) == doctest::Approx(3210).epsilon(1e-3));
  CHECK(prompts_for_equivalence(sd, 0.03) == doctest::Approx(1430).epsilon(3e-3));
  CHECK(prompts_for_equivalence(sd, 0.05) == doctest::Approx(514).epsilon(1e-3));
}

TEST_CASE("a p value and its interval are one test") {
  const Series baseline = {3.1, 4.7, 2.2, 5.9, 4.1, 3.6, 6.2, 2.8, 5.0, 4.4},
               arm = {3.0, 4.9, 1.9, 5.5, 4.2, 3.1, 6.0, 2.9, 4.6, 4.0};
  const double p = difference_p(baseline, arm);
  CHECK(p > 0.001);
  CHECK(p < 0.2);
  CHECK(difference(baseline, arm, 1 - p).interval.high == doctest::Approx(0));
  const std::vector<double> columns[] = {baseline, arm};
  const auto log_ratio = [](std::span<const double> s) { return std::log(s[0] / s[1]); };
  const Tested tested = cluster_bootstrap_test(columns, log_ratio, 0);
  const auto low = [&](double confidence) {
    return cluster_bootstrap(columns, log_ratio, confidence).interval.low;
  };
  CHECK(tested.p < 0.2);
  CHECK(low(1 - tested.p - 1e-6) > 0);
  CHECK(low(1 - tested.p + 1e-6) <= 0);
  // It is never less than one draw.
  CHECK(cluster_bootstrap_test(columns, log_ratio, 5).p == doctest::Approx(1.0 / 2000));
  // Equal differences do not say how prompts spread.
  CHECK(std::isnan(difference_p(Series{1, 2, 3}, Series{2, 3, 4})));
  CHECK(std::isnan(difference(Series{1, 2, 3}, Series{2, 3, 4}).interval.low));
}

TEST_CASE("prompts that show an arm no worse are those that what it lost leaves of the margin") {
  // By hand: (z(.95) + z(.8)) = 2.486475. The interval of 50 prompts has a spread of .06 / (2
  // z(.95))
  // * sqrt(50) = .128966. Less by .02 is a loss where more is better, and a gain where less is.
  const Estimate lost = {-0.02, {-0.05, 0.01}};
  CHECK(non_inferiority(lost, 50, 0.1, 1).needed == doctest::Approx(16.0671).epsilon(1e-3));
  CHECK(non_inferiority(lost, 50, 0.1, -1).needed == doctest::Approx(7.14094).epsilon(1e-3));
  // Twelve prompts lose .1 on average, with a deviation of .2 sqrt(12 / 11).
  Series baseline(12, 0.0), arm;
  for (int i = 0; i < 12; ++i) arm.push_back(i % 2 ? 0.1 : -0.3);
  CHECK(non_inferiority(baseline, arm, 0.5, 1).needed == doctest::Approx(1.68616).epsilon(1e-3));
  CHECK(non_inferiority(baseline, arm, 0.5, -1).needed == doctest::Approx(0.74940).epsilon(1e-3));
}

TEST_CASE("Holm's adjustment") {
  const Series adjusted = holm(Series{0.04, 0.01, 0.03});
  CHECK(adjusted[1] == doctest::Approx(0.03));  // That is 3 x 0.01.
  CHECK(adjusted[2] == doctest::Approx(0.06));  // That is 2 x 0.03.
  CHECK(adjusted[0] == doctest::Approx(0.06));  // No value is ever below the one before.
  CHECK(holm(Series{0.9, 0.8})[0] == 1);
}

TEST_CASE("agreement with scipy 1.10 and numpy") {
  const Series baseline = {3.1, 4.7, 2.2, 5.9, 4.1, 3.6, 6.2, 2.8, 5.0, 4.4},
               arm = {1.6, 2.9, 1.3, 2.7, 2.5, 1.4, 3.9, 1.9, 2.2, 2.6};
  const auto near = [](double value) { return doctest::Approx(value).epsilon(1e-9); };
  const Estimate paired = difference(baseline, arm);  // Computed by scipy.stats.t and sem.
  CHECK(paired.interval.low == near(-2.4342608834775663));
  CHECK(paired.interval.high == near(-1.3657391165224335));
  const Equivalence equal = equivalence(baseline, arm, 2.5);
  CHECK(equal.difference.interval.low == near(-2.332932137096531));
  CHECK(equal.difference.interval.high == near(-1.4670678629034688));
  CHECK(equal.finding == Equivalence::Finding::equivalent);
  const Line line = fit_line(baseline, arm);  // Computed by scipy.stats.linregress.
  CHECK(line.slope.value == near(0.5214843749999999));
  CHECK(line.intercept.value == near(0.10976562500000009));
  CHECK(line.r2 == near(0.7354031415052815));
  CHECK(line.slope.interval.low == near(0.26645747605800785));
  CHECK(line.slope.interval.high == near(0.7765112739419919));
  CHECK(line.intercept.interval.low == near(-1.0070076192496058));
  CHECK(line.intercept.interval.high == near(1.226538869249606));
  // Computed by scipy.stats.norm.
  CHECK(prompts_for_equivalence(0.3, 0.05) == near(308.298504624047));
  CHECK(prompts_for_non_inferiority(0.3, 0.05) == near(222.57206035271153));
  CHECK(prompts_for_difference(0.3, 0.05) == near(282.55967043656716));
  // Expanded BCa written again in numpy, over draws of a Philox written again in Python. scipy's
  // own, not expanded and with other draws: 1.665 to 2.058.
  const Estimate ratio = speedup(baseline, arm);
  CHECK(ratio.value == doctest::Approx(1.82608696).epsilon(1e-8));
  CHECK(ratio.interval.low == doctest::Approx(1.63548136).epsilon(1e-8));
  CHECK(ratio.interval.high == doctest::Approx(2.12633364).epsilon(1e-8));
}

TEST_CASE("no worse") {
  // The interval reaches 0.054148 at one-sided 95 %.
  const Series baseline(12, 0.0), arm = alternating(-0.1, 0.1);
  CHECK(non_inferiority(baseline, arm, 0.0542).shown);
  CHECK_FALSE(non_inferiority(baseline, arm, 0.0541).shown);
  const Series better = alternating(0.9, 1.1);
  CHECK(non_inferiority(baseline, better, 0.01).shown);
  CHECK(non_inferiority(baseline, better, 0.01).bound ==
        doctest::Approx(-1 + 0.054148).epsilon(1e-4));
  CHECK_FALSE(non_inferiority(baseline, better, 0.01, -1).shown);  // Here less is better.
}

TEST_CASE("the jackknife takes the bias off a variance, and of a mean it is Student's interval") {
  const Series x = {1, 2, 4, 8, 16}, squares = {1, 4, 16, 64, 256}, ones(5, 1.0);
  const std::vector<Series> columns = {ones, x, squares};
  const auto plain_variance = [](std::span<const double> s) {
    return s[2] / s[0] - s[1] / s[0] * (s[1] / s[0]);
  };
  CHECK(jackknife(columns, plain_variance).value ==
        doctest::Approx(37.2));  // Sum of squared deviations 148.8, over n - 1.
  const Estimate center = jackknife(columns, [](std::span<const double> s) { return s[1] / s[0]; });
  CHECK(center.value == doctest::Approx(6.2));
  CHECK(center.interval.high - 6.2 ==
        doctest::Approx(2.776445 * std::sqrt(37.2 / 5)).epsilon(1e-5));
  CHECK(std::isnan(jackknife(std::vector<Series>{{1}, {1}}, [](std::span<const double> s) {
                     return s[0];
                   }).interval.low));
}

TEST_CASE("a line through points on it has no width, and one x has no line") {
  const Line line = fit_line(Series{1, 2, 5}, Series{5, 7, 13});
  CHECK(line.slope.value == doctest::Approx(2));
  CHECK(line.slope.interval.low == doctest::Approx(2));
  CHECK(line.intercept.value == doctest::Approx(3));
  CHECK(line.r2 == doctest::Approx(1));
  CHECK(std::isnan(fit_line(Series{2, 2}, Series{1, 3}).slope.value));
}

TEST_CASE("the interval of a rate of 200 prompts covers at its level") {
  // A prompt has 5 to 24 drafts, accepted with a probability of its own of mean 0.6. True rate of
  // sums: 0.6, since length and probability are independent. 400 replicates: 93 to 97 % within
  // three standard errors is 92.8 to 98.3 % at 95 %.
  constexpr int kReplicates = 400, kPrompts = 200;
  int covered = 0;
  for (int replicate = 0; replicate < kReplicates; ++replicate) {
    std::vector<double> columns[2];
    for (int i = 0; i < kPrompts; ++i) {
      const double drafts = std::floor(5 + 20 * uniform(replicate, i, 20)),
                   rate = 0.3 + 0.6 * uniform(replicate, i, 21);
      columns[0].push_back(rate * drafts);
      columns[1].push_back(drafts);
    }
    const Interval interval =
        cluster_bootstrap(columns, [](std::span<const double> s) { return s[0] / s[1]; }, 0.95,
                          {500, 1})
            .interval;
    covered += interval.low <= 0.6 && 0.6 <= interval.high;
  }
  MESSAGE("covered ", covered, " of ", kReplicates);
  CHECK(covered >= 0.93 * kReplicates);
  CHECK(covered <= 0.983 * kReplicates);
}

TEST_CASE("the best of 20 identical arms is not called better") {
  // Holm over the 20: a false claim in at most 5 % of replicates, and three standard errors.
  constexpr int kReplicates = 200, kPrompts = 60, kArms = 20;
  int claimed = 0, unadjusted = 0;
  for (int replicate = 0; replicate < kReplicates; ++replicate) {
    Series p;
    for (int arm = 0; arm < kArms; ++arm) {
      Series differences;
      for (int i = 0; i < kPrompts; ++i)
        differences.push_back(normal(replicate * kArms + arm, i, 30) +
                              normal(replicate, i, 40) * 0.5);
      p.push_back(difference_p(Series(kPrompts, 0.0), differences));
    }
    const Series adjusted = holm(p);
    claimed += *std::min_element(adjusted.begin(), adjusted.end()) < 0.05;
    unadjusted += *std::min_element(p.begin(), p.end()) < 0.05;
  }
  MESSAGE("claimed ", claimed, ", without Holm ", unadjusted, " of ", kReplicates);
  CHECK(claimed <= kReplicates * (0.05 + 3 * std::sqrt(0.05 * 0.95 / kReplicates)));
  CHECK(unadjusted > kReplicates / 3);
}

}  // namespace draftlab
