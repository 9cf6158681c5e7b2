#include "analysis/statistics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "core/base/error.h"
#include "core/prob/chance.h"

namespace draftlab {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr Interval kNoInterval{kNaN, kNaN};

double normal_quantile(double p) { return boost::math::quantile(boost::math::normal(), p); }
double normal_below(double z) { return boost::math::cdf(boost::math::normal(), z); }

double sum(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}
double mean(std::span<const double> values) {
  return sum(values) / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) {
  const double center = mean(values);
  double squares = 0;
  for (double value : values) squares += (value - center) * (value - center);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::array<std::uint32_t, 4> random_bits(std::uint64_t counter, std::uint64_t seed) {
  return philox({static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0,
                 static_cast<std::uint32_t>(Purpose::choice)},
                {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

void check_paired(std::span<const double> baseline, std::span<const double> arm) {
  if (baseline.size() != arm.size()) {
    throw Fault(
        "a paired comparison got {} prompts of the baseline and {} of the arm; both must have "
        "decoded the same",
        baseline.size(), arm.size());
  }
}

std::vector<double> differences(std::span<const double> baseline, std::span<const double> arm) {
  check_paired(baseline, arm);
  std::vector<double> result(arm.size());
  for (std::size_t i = 0; i < arm.size(); ++i) result[i] = arm[i] - baseline[i];
  return result;
}

// The prompts of every draw, one draw after the other. Tables compare many arms on the same
// prompts, so the last draws are kept.
class Resamples {
 public:
  static const Resamples& of(std::size_t prompts, const Bootstrap& bootstrap) {
    static thread_local Resamples last;
    if (last.prompts_ != prompts || last.draws_ != bootstrap.draws || last.seed_ != bootstrap.seed)
      last = Resamples(prompts, bootstrap);
    return last;
  }
  std::span<const std::uint32_t> draw(int number) const {
    return std::span(rows_).subspan(static_cast<std::size_t>(number) * prompts_, prompts_);
  }

 private:
  Resamples() = default;
  Resamples(std::size_t prompts, const Bootstrap& bootstrap)
      : prompts_(prompts),
        draws_(bootstrap.draws),
        seed_(bootstrap.seed),
        rows_(prompts * static_cast<std::size_t>(bootstrap.draws)) {
    for (std::size_t at = 0; at < rows_.size(); at += 4) {
      const auto bits = random_bits(at / 4, seed_);
      for (std::size_t i = at; i < std::min(at + 4, rows_.size()); ++i)
        rows_[i] = static_cast<std::uint32_t>((std::uint64_t{bits[i - at]} * prompts) >> 32);
    }
  }
  std::size_t prompts_ = 0;
  int draws_ = 0;
  std::uint64_t seed_ = 0;
  std::vector<std::uint32_t> rows_;
};

// Returns a quantile of sorted values, linear between neighbours.
double sample_quantile(const std::vector<double>& sorted, double p) {
  const double at = std::clamp(p, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  if (below + 1 == sorted.size()) return sorted.back();
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

// Returns the skewness of the estimate, from its values with one prompt left out.
double acceleration(const std::vector<double>& jackknife) {
  const double center = mean(jackknife);
  double squares = 0, cubes = 0;
  for (double value : jackknife) {
    squares += std::pow(center - value, 2);
    cubes += std::pow(center - value, 3);
  }
  return squares > 0 ? cubes / (6 * std::pow(squares, 1.5)) : 0;
}

// Returns the bias-corrected and accelerated percentiles (Efron 1987) of `draws`, which need not be
// sorted. They are expanded (Hesterberg 2015), because resampling n prompts understates their
// variance by (n - 1) / n, and a normal quantile what few of them leave unknown.
Interval bca(double estimate, std::vector<double> draws, const std::vector<double>& jackknife,
             double confidence) {
  std::sort(draws.begin(), draws.end());
  // Draws that equal the estimate up to rounding count as equal.
  const double slack = 1e-12 * std::max(1.0, std::abs(estimate));
  const auto first = std::lower_bound(draws.begin(), draws.end(), estimate - slack);
  const auto last = std::upper_bound(draws.begin(), draws.end(), estimate + slack);
  const double count = static_cast<double>(draws.size());
  const double below =
      (static_cast<double>(first - draws.begin()) + 0.5 * static_cast<double>(last - first)) /
      count;
  const double bias = normal_quantile(std::clamp(below, 0.5 / count, 1 - 0.5 / count));
  const double skew = acceleration(jackknife);
  const double n = static_cast<double>(jackknife.size());
  const auto end = [&](double p) {
    const double z =
        bias + std::sqrt(n / (n - 1)) * boost::math::quantile(boost::math::students_t(n - 1), p);
    const double shrink = 1 - skew * z;
    return sample_quantile(draws, shrink > 0 ? normal_below(bias + z / shrink) : z > 0);
  };
  return {end((1 - confidence) / 2), end((1 + confidence) / 2)};
}

}  // namespace

Estimate cluster_bootstrap(std::span<const std::vector<double>> columns, const Statistic& statistic,
                           double confidence, Bootstrap bootstrap) {
  const std::size_t n = columns.front().size(), width = columns.size();
  std::vector<double> totals(width), sums(width), jackknife, draws;
  for (std::size_t c = 0; c < width; ++c) {
    check_paired(columns.front(), columns[c]);
    totals[c] = sum(columns[c]);
  }
  const double estimate = n > 0 ? statistic(totals) : kNaN;
  if (n < 2 || !std::isfinite(estimate)) return {estimate, kNoInterval};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = 0; c < width; ++c) sums[c] = totals[c] - columns[c][i];
    if (const double value = statistic(sums); std::isfinite(value)) jackknife.push_back(value);
  }
  const Resamples& resamples = Resamples::of(n, bootstrap);
  for (int draw = 0; draw < bootstrap.draws; ++draw) {
    const auto prompts = resamples.draw(draw);
    for (std::size_t c = 0; c < width; ++c) {
      const double* const values = columns[c].data();
      double total = 0;
      for (const std::uint32_t prompt : prompts) total += values[prompt];
      sums[c] = total;
    }
    if (const double value = statistic(sums); std::isfinite(value)) draws.push_back(value);
  }
  // With few prompts some draws may leave nothing to divide by.
  constexpr double kEnough = 0.9;
  if (jackknife.size() < 2 || static_cast<double>(draws.size()) < kEnough * bootstrap.draws)
    return {estimate, kNoInterval};
  return {estimate, bca(estimate, std::move(draws), jackknife, confidence)};
}

Estimate jackknife(std::span<const std::vector<double>> columns, const Statistic& statistic,
                   double confidence) {
  const std::size_t n = columns.front().size();
  std::vector<double> totals, without;
  for (const std::vector<double>& column : columns) {
    check_paired(columns.front(), column);
    totals.push_back(sum(column));
  }
  const double plain = n > 0 ? statistic(totals) : kNaN;
  if (n < 2 || !std::isfinite(plain)) return {plain, kNoInterval};
  std::vector<double> sums(columns.size());
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = 0; c < columns.size(); ++c) sums[c] = totals[c] - columns[c][i];
    without.push_back(statistic(sums));
    if (!std::isfinite(without.back())) return {plain, kNoInterval};
  }
  const double count = static_cast<double>(n), value = count * plain - (count - 1) * mean(without);
  const double reach =
      boost::math::quantile(boost::math::students_t(count - 1), (1 + confidence) / 2) *
      (count - 1) / std::sqrt(count) * standard_deviation(without);
  return {value, {value - reach, value + reach}};
}

Estimate speedup(std::span<const double> baseline, std::span<const double> arm, double confidence,
                 Bootstrap bootstrap) {
  check_paired(baseline, arm);
  const std::vector<double> columns[] = {{baseline.begin(), baseline.end()},
                                         {arm.begin(), arm.end()}};
  const auto log_ratio = [](std::span<const double> sums) {
    return sums[0] > 0 && sums[1] > 0 ? std::log(sums[0] / sums[1]) : kNaN;
  };
  const Estimate logs = cluster_bootstrap(columns, log_ratio, confidence, bootstrap);
  return {std::exp(logs.value), {std::exp(logs.interval.low), std::exp(logs.interval.high)}};
}

Estimate difference(std::span<const double> baseline, std::span<const double> arm,
                    double confidence) {
  const std::vector<double> d = differences(baseline, arm);
  if (d.empty()) return {kNaN, kNoInterval};
  const double center = mean(d);
  if (d.size() < 2) return {center, kNoInterval};
  const double n = static_cast<double>(d.size());
  const double t = boost::math::quantile(boost::math::students_t(n - 1), (1 + confidence) / 2);
  const double reach = t * standard_deviation(d) / std::sqrt(n);
  return {center, {center - reach, center + reach}};
}

namespace {

// Returns the standard deviation of a prompt that gives such an interval of their mean at
// confidence 1 - 2 alpha.
double spread(const Interval& interval, int prompts, double alpha) {
  return (interval.high - interval.low) / (2 * normal_quantile(1 - alpha)) *
         std::sqrt(static_cast<double>(prompts));
}

}  // namespace

Equivalence equivalence(const Estimate& difference, int prompts, double margin, double alpha) {
  Equivalence result{
      .difference = difference, .margin = margin, .prompts = prompts, .needed = kNaN};
  const Interval& interval = difference.interval;
  if (interval.low > -margin && interval.high < margin)
    result.finding = Equivalence::Finding::equivalent;
  if (interval.low > margin || interval.high < -margin)
    result.finding = Equivalence::Finding::different;
  if (prompts >= 2)
    result.needed = prompts_for_equivalence_at(difference.value, spread(interval, prompts, alpha),
                                               margin, alpha);
  return result;
}

Equivalence equivalence(std::span<const double> baseline, std::span<const double> arm,
                        double margin, double alpha) {
  Equivalence result = equivalence(difference(baseline, arm, 1 - 2 * alpha),
                                   static_cast<int>(arm.size()), margin, alpha);
  if (arm.size() >= 2)
    result.needed = prompts_for_equivalence_at(result.difference.value, paired_sd(baseline, arm),
                                               margin, alpha);
  return result;
}

NonInferiority non_inferiority(const Estimate& difference, int prompts, double margin, int sign,
                               double alpha) {
  const double bound = sign > 0 ? -difference.interval.low : difference.interval.high;
  return {bound < margin, bound,
          prompts < 2 ? kNaN
                      : prompts_for_non_inferiority_at(-sign * difference.value,
                                                       spread(difference.interval, prompts, alpha),
                                                       margin, alpha)};
}

NonInferiority non_inferiority(std::span<const double> baseline, std::span<const double> arm,
                               double margin, int sign, double alpha) {
  const Estimate gained = difference(baseline, arm, 1 - 2 * alpha);
  NonInferiority result =
      non_inferiority(gained, static_cast<int>(arm.size()), margin, sign, alpha);
  if (arm.size() >= 2)
    result.needed = prompts_for_non_inferiority_at(-sign * gained.value, paired_sd(baseline, arm),
                                                   margin, alpha);
  return result;
}

double paired_sd(std::span<const double> baseline, std::span<const double> arm) {
  return standard_deviation(differences(baseline, arm));
}

double prompts_for_difference(double sd, double difference, double alpha, double power) {
  return std::pow((normal_quantile(1 - alpha / 2) + normal_quantile(power)) * sd / difference, 2);
}

double prompts_for_equivalence(double sd, double margin, double alpha, double power) {
  return std::pow((normal_quantile(1 - alpha) + normal_quantile((1 + power) / 2)) * sd / margin, 2);
}

double prompts_for_non_inferiority(double sd, double margin, double alpha, double power) {
  return std::pow((normal_quantile(1 - alpha) + normal_quantile(power)) * sd / margin, 2);
}

double prompts_for_equivalence_at(double difference, double sd, double margin, double alpha,
                                  double power) {
  // Away from zero one of the two tests decides; at zero both do.
  return std::max(prompts_for_equivalence(sd, margin, alpha, power),
                  prompts_for_non_inferiority_at(std::abs(difference), sd, margin, alpha, power));
}

double prompts_for_non_inferiority_at(double worse, double sd, double margin, double alpha,
                                      double power) {
  if (worse >= margin) return std::numeric_limits<double>::infinity();
  return prompts_for_non_inferiority(sd, margin - worse, alpha, power);
}

double sign_flip_p(std::span<const double> differences, Bootstrap bootstrap) {
  const std::size_t n = differences.size();
  if (n == 0) return 1;
  const double observed = std::abs(sum(differences));
  // Sums that equal the observed one up to rounding count.
  const double enough = observed - 1e-12 * std::max(1.0, observed);
  const bool exact = n <= 14;
  const int flips = exact ? 1 << n : bootstrap.draws;
  // Prompts are taken eight at a time, with their sum under each of the 256 patterns of signs.
  const std::size_t bytes = (n + 7) / 8;
  std::vector<std::array<double, 256>> sums(bytes);
  for (std::size_t byte = 0; byte < bytes; ++byte) {
    const auto eight = differences.subspan(8 * byte, std::min<std::size_t>(8, n - 8 * byte));
    sums[byte][0] = sum(eight);
    for (unsigned signs = 1; signs < 256; ++signs) {
      const auto lowest = static_cast<std::size_t>(std::countr_zero(signs));
      sums[byte][signs] =
          sums[byte][signs & (signs - 1)] - (lowest < eight.size() ? 2 * eight[lowest] : 0);
    }
  }
  int extreme = 0;
  std::uint64_t counter = 0;
  for (int flip = 0; flip < flips; ++flip) {
    double total = 0;
    std::array<std::uint32_t, 4> bits{static_cast<std::uint32_t>(flip), 0, 0, 0};
    for (std::size_t byte = 0; byte < bytes; ++byte) {
      const std::size_t at = byte % 16;
      if (!exact && at == 0) bits = random_bits(counter++, bootstrap.seed);
      total += sums[byte][(bits[at / 4] >> (8 * (at % 4))) & 0xFF];
    }
    extreme += std::abs(total) >= enough;
  }
  // The observed signs are one of the random ones, so p is never zero.
  return exact ? static_cast<double>(extreme) / flips : (extreme + 1.0) / (flips + 1.0);
}

Line fit_line(std::span<const double> x, std::span<const double> y, double confidence) {
  check_paired(x, y);
  Line line{{kNaN, kNoInterval}, {kNaN, kNoInterval}, kNaN};
  const double n = static_cast<double>(x.size());
  if (x.empty()) return line;
  const double x_mean = mean(x), y_mean = mean(y);
  double xx = 0, xy = 0, yy = 0, residual = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - x_mean) * (x[i] - x_mean);
    xy += (x[i] - x_mean) * (y[i] - y_mean);
    yy += (y[i] - y_mean) * (y[i] - y_mean);
  }
  if (!(xx > 0)) return line;
  line.slope.value = xy / xx;
  line.intercept.value = y_mean - line.slope.value * x_mean;
  for (std::size_t i = 0; i < x.size(); ++i)
    residual += std::pow(y[i] - line.intercept.value - line.slope.value * x[i], 2);
  line.r2 = yy > 0 ? 1 - residual / yy : 1;
  if (x.size() < 3) return line;
  const double t = boost::math::quantile(boost::math::students_t(n - 2), (1 + confidence) / 2);
  const double spread = std::sqrt(residual / (n - 2));
  const double slope_reach = t * spread / std::sqrt(xx),
               intercept_reach = t * spread * std::sqrt(1 / n + x_mean * x_mean / xx);
  line.slope.interval = {line.slope.value - slope_reach, line.slope.value + slope_reach};
  line.intercept.interval = {line.intercept.value - intercept_reach,
                             line.intercept.value + intercept_reach};
  return line;
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    largest =
        std::max(largest, std::min(1.0, p[order[rank]] * static_cast<double>(order.size() - rank)));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

}  // namespace draftlab
