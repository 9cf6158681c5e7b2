// Intervals and tests for paired experiments of costs, rates and means; shares of prompts that are
// right or wrong have a header of their own (analysis/report/paired_proportions.h). The unit is the
// prompt, and both arms of a comparison decoded the same prompts. Everything is deterministic: the
// bootstrap draws from the counter-based generator of core/prob/chance.h.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace draftlab {

struct Interval {
  double low = 0, high = 0;
};

struct Estimate {
  double value = 0;
  // The interval is NaN where there are fewer than two prompts, which are too few to say.
  Interval interval;
};

struct Bootstrap {
  int draws = 2000;
  std::uint64_t seed = 1;
};

// A statistic of sums over prompts, with the BCa interval of resampled prompts. Each of `columns`
// has one number a prompt, and `statistic` is given the sums of the columns, so that every column
// takes the same draws. BCa (Efron 1987) is expanded for few prompts (Hesterberg 2015). The
// interval is NaN where there are fewer than two prompts, or where the statistic of too many draws
// is not finite.
using Statistic = std::function<double(std::span<const double> sums)>;
Estimate cluster_bootstrap(std::span<const std::vector<double>> columns, const Statistic& statistic,
                           double confidence = 0.95, Bootstrap bootstrap = {});

// The same with a two-sided p value of the statistic being `null`, by inverting its intervals: it
// is 1 less the greatest confidence whose interval does not hold `null`, and never below one draw.
struct Tested {
  Estimate estimate;
  // It is NaN where there is no interval.
  double p = 0;
};
Tested cluster_bootstrap_test(std::span<const std::vector<double>> columns,
                              const Statistic& statistic, double null, double confidence = 0.95);

// The same for a statistic whose curvature biases it, as the number of images biases a Frechet
// distance. The jackknife removes the bias of order 1 / n (Quenouille, 1956), and the interval is
// Student's from its standard error (Tukey, 1958).
Estimate jackknife(std::span<const std::vector<double>> columns, const Statistic& statistic,
                   double confidence = 0.95);

// The ratio of sums, baseline / arm: how many times less the arm costs. There is one number a
// prompt and arm, with samples summed beforehand, all positive. The interval is BCa on the
// logarithm, from resampled prompts, with the same draw for both arms: resampling the arms apart is
// uselessly wide, resampling single samples too narrow. A 95 % interval of 20 prompts covers at
// about 92 %, of 200 at 95 %.
Estimate speedup(std::span<const double> baseline, std::span<const double> arm,
                 double confidence = 0.95, Bootstrap bootstrap = {});

// The mean of arm - baseline over prompts, with Student's interval. Where all differences are equal
// they do not say how prompts spread, so there is no interval.
Estimate difference(std::span<const double> baseline, std::span<const double> arm,
                    double confidence = 0.95);

// Returns the two-sided p value of the mean of arm - baseline being 0, by the same paired test of
// Student's; NaN where there is no interval.
double difference_p(std::span<const double> baseline, std::span<const double> arm);

// Fewer prompts than this show nothing, whatever the test.
inline constexpr int kLeastPrompts = 10;

// The level of the tests below, and the power for which they say how many prompts are needed.
inline constexpr double kAlpha = 0.05, kPower = 0.8;

// Two one-sided tests: the arms are equivalent when the interval of the difference at confidence 1
// - 2 alpha (90 %) lies inside +-margin. A difference that is merely not significant shows nothing.
struct Equivalence {
  // `different` means that the interval lies wholly outside the margin, and `unjudged` that there
  // are too few prompts to say, or no interval.
  enum class Finding { equivalent, undecided, different, unjudged };
  Finding finding = Finding::undecided;
  // The difference at confidence 1 - 2 alpha.
  Estimate difference;
  double margin = 0;
  int prompts = 0;
  // The prompts for 80 % power at this spread, if the true difference is what was measured;
  // infinite where that lies at or beyond the margin.
  double needed = 0;
};
Equivalence equivalence(std::span<const double> baseline, std::span<const double> arm,
                        double margin);
// The same from a difference and its interval at confidence 1 - 2 alpha, whose width says how
// prompts spread.
Equivalence equivalence(const Estimate& difference, int prompts, double margin);

// A one-sided test: is the arm no worse than the baseline by the margin? `sign` is 1 where more is
// better, and -1 where less is.
struct NonInferiority {
  bool shown = false;
  // The arm is worse by at most this, at confidence 1 - alpha. Where it is negative, the arm is
  // better.
  double bound = 0;
  // The same as in Equivalence.
  double needed = 0;
};
NonInferiority non_inferiority(std::span<const double> baseline, std::span<const double> arm,
                               double margin, int sign = 1);
NonInferiority non_inferiority(const Estimate& difference, int prompts, double margin,
                               int sign = 1);

// Returns the prompts needed to see a true difference by a two-sided paired test: (z_{1-alpha/2} +
// z_{power})^2 sd^2 / difference^2.
double prompts_for_difference(double sd, double difference);

// Returns the sample standard deviation of arm - baseline.
double paired_sd(std::span<const double> baseline, std::span<const double> arm);

// The first returns the prompts needed to show equivalence when there is no difference to find:
// (z_{1-alpha} + z_{1-beta/2})^2 sd^2 / margin^2, which is 8.56 sd^2 / margin^2 at alpha = 0.05 and
// 80 % power. The second returns those needed to show "no worse" one-sidedly, 6.18 sd^2 / margin^2.
double prompts_for_equivalence(double sd, double margin);
double prompts_for_non_inferiority(double sd, double margin);
// Returns the same where the true difference is `difference`: what is left of the margin has to be
// shown. It is infinite where nothing is left. For non-inferiority, `worse` is how much worse the
// arm is.
double prompts_for_equivalence_at(double difference, double sd, double margin);
double prompts_for_non_inferiority_at(double worse, double sd, double margin);

// Fits y = intercept + slope x by least squares, with Student's intervals of both.
struct Line {
  Estimate intercept, slope;
  // The share of the variance that the line explains.
  double r2 = 0;
};
Line fit_line(std::span<const double> x, std::span<const double> y, double confidence = 0.95);

// Returns Holm's adjusted p values of one family, in the order given.
std::vector<double> holm(std::span<const double> p);

}  // namespace draftlab
