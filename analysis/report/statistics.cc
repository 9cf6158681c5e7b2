#include "analysis/report/statistics.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
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

// The bias-corrected and accelerated percentiles (Efron 1987) of draws. They are expanded
// (Hesterberg 2015), because resampling n prompts understates their variance by (n - 1) / n, and a
// normal quantile what few of them leave unknown.
class Bca {
 public:
  Bca(double estimate, std::vector<double> draws, const std::vector<double>& jackknife)
      : draws_(std::move(draws)), skew_(acceleration(jackknife)), prompts_(jackknife.size()) {
    std::sort(draws_.begin(), draws_.end());
    // Draws that equal the estimate up to rounding count as equal.
    const double slack = 1e-12 * std::max(1.0, std::abs(estimate));
    const auto first = std::lower_bound(draws_.begin(), draws_.end(), estimate - slack);
    const auto last = std::upper_bound(draws_.begin(), draws_.end(), estimate + slack);
    const double count = static_cast<double>(draws_.size());
    const double below =
        (static_cast<double>(first - draws_.begin()) + 0.5 * static_cast<double>(last - first)) /
        count;
    bias_ = normal_quantile(std::clamp(below, 0.5 / count, 1 - 0.5 / count));
  }

  Interval interval(double confidence) const {
    return {end((1 - confidence) / 2), end((1 + confidence) / 2)};
  }

  // Returns the least p at which the interval of confidence 1 - p does not hold `null`.
  double p(double null) const {
    const auto excluded = [&](double p) {
      const Interval found = interval(1 - p);
      return null < found.low || null > found.high;
    };
    double least = 1 / static_cast<double>(draws_.size()), most = 1;
    if (excluded(least)) return least;
    constexpr int kHalvings = 40;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (least + most) / 2;
      (excluded(middle) ? most : least) = middle;
    }
    return most;
  }

 private:
  double end(double p) const {
    const double n = static_cast<double>(prompts_);
    const double z =
        bias_ + std::sqrt(n / (n - 1)) * boost::math::quantile(boost::math::students_t(n - 1), p);
    const double shrink = 1 - skew_ * z;
    return sample_quantile(draws_, shrink > 0 ? normal_below(bias_ + z / shrink) : z > 0);
  }
  std::vector<double> draws_;
  double skew_ = 0, bias_ = 0;
  std::size_t prompts_ = 0;
};

}  // namespace

namespace {

// The statistic of all prompts, and its percentiles where they can be had.
struct Resampled {
  double estimate = kNaN;
  std::optional<Bca> percentiles = {};
};

Resampled resampled(std::span<const std::vector<double>> columns, const Statistic& statistic,
                    Bootstrap bootstrap) {
  const std::size_t n = columns.front().size(), width = columns.size();
  std::vector<double> totals(width), sums(width), jackknife, draws;
  for (std::size_t c = 0; c < width; ++c) {
    check_paired(columns.front(), columns[c]);
    totals[c] = sum(columns[c]);
  }
  const double estimate = n > 0 ? statistic(totals) : kNaN;
  if (n < 2 || !std::isfinite(estimate)) return {estimate};
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
    return {estimate};
  return {estimate, Bca(estimate, std::move(draws), jackknife)};
}

}  // namespace

Estimate cluster_bootstrap(std::span<const std::vector<double>> columns, const Statistic& statistic,
                           double confidence, Bootstrap bootstrap) {
  const Resampled found = resampled(columns, statistic, bootstrap);
  return {found.estimate,
          found.percentiles ? found.percentiles->interval(confidence) : kNoInterval};
}

Tested cluster_bootstrap_test(std::span<const std::vector<double>> columns,
                              const Statistic& statistic, double null, double confidence) {
  const Resampled found = resampled(columns, statistic, {});
  if (!found.percentiles) return {{found.estimate, kNoInterval}, kNaN};
  return {{found.estimate, found.percentiles->interval(confidence)}, found.percentiles->p(null)};
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

namespace {

// Says whether the numbers differ by more than rounding.
bool spreads(std::span<const double> values) {
  if (values.empty()) return false;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return *most - *least > 1e-12 * std::max({1.0, std::abs(*least), std::abs(*most)});
}

}  // namespace

Estimate difference(std::span<const double> baseline, std::span<const double> arm,
                    double confidence) {
  const std::vector<double> d = differences(baseline, arm);
  if (d.empty()) return {kNaN, kNoInterval};
  const double center = mean(d);
  if (!spreads(d)) return {center, kNoInterval};
  const double n = static_cast<double>(d.size());
  const double t = boost::math::quantile(boost::math::students_t(n - 1), (1 + confidence) / 2);
  const double reach = t * standard_deviation(d) / std::sqrt(n);
  return {center, {center - reach, center + reach}};
}

double difference_p(std::span<const double> baseline, std::span<const double> arm) {
  const std::vector<double> d = differences(baseline, arm);
  if (!spreads(d)) return kNaN;
  const double n = static_cast<double>(d.size()),
               t = std::abs(mean(d)) / (standard_deviation(d) / std::sqrt(n));
  return 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(n - 1), t));
}

namespace {

// Returns the standard deviation of a prompt that gives such an interval of their mean at
// confidence 1 - 2 alpha.
double spread(const Interval& interval, int prompts) {
  return (interval.high - interval.low) / (2 * normal_quantile(1 - kAlpha)) *
         std::sqrt(static_cast<double>(prompts));
}

}  // namespace

Equivalence equivalence(const Estimate& difference, int prompts, double margin) {
  Equivalence result{
      .difference = difference, .margin = margin, .prompts = prompts, .needed = kNaN};
  const Interval& interval = difference.interval;
  if (prompts < kLeastPrompts || !(interval.low < interval.high)) {
    result.finding = Equivalence::Finding::unjudged;
    return result;
  }
  if (interval.low > -margin && interval.high < margin)
    result.finding = Equivalence::Finding::equivalent;
  if (interval.low > margin || interval.high < -margin)
    result.finding = Equivalence::Finding::different;
  result.needed = prompts_for_equivalence_at(difference.value, spread(interval, prompts), margin);
  return result;
}

Equivalence equivalence(std::span<const double> baseline, std::span<const double> arm,
                        double margin) {
  Equivalence result =
      equivalence(difference(baseline, arm, 1 - 2 * kAlpha), static_cast<int>(arm.size()), margin);
  if (result.finding != Equivalence::Finding::unjudged)
    result.needed =
        prompts_for_equivalence_at(result.difference.value, paired_sd(baseline, arm), margin);
  return result;
}

NonInferiority non_inferiority(const Estimate& difference, int prompts, double margin, int sign) {
  const double bound = sign > 0 ? -difference.interval.low : difference.interval.high;
  const bool judged =
      prompts >= kLeastPrompts && difference.interval.low < difference.interval.high;
  return {judged && bound < margin, bound,
          !judged ? kNaN
                  : prompts_for_non_inferiority_at(-sign * difference.value,
                                                   spread(difference.interval, prompts), margin)};
}

NonInferiority non_inferiority(std::span<const double> baseline, std::span<const double> arm,
                               double margin, int sign) {
  const Estimate gained = difference(baseline, arm, 1 - 2 * kAlpha);
  NonInferiority result = non_inferiority(gained, static_cast<int>(arm.size()), margin, sign);
  if (!std::isnan(result.needed))
    result.needed =
        prompts_for_non_inferiority_at(-sign * gained.value, paired_sd(baseline, arm), margin);
  return result;
}

double paired_sd(std::span<const double> baseline, std::span<const double> arm) {
  return standard_deviation(differences(baseline, arm));
}

double prompts_for_difference(double sd, double difference) {
  return std::pow((normal_quantile(1 - kAlpha / 2) + normal_quantile(kPower)) * sd / difference, 2);
}

double prompts_for_equivalence(double sd, double margin) {
  return std::pow((normal_quantile(1 - kAlpha) + normal_quantile((1 + kPower) / 2)) * sd / margin,
                  2);
}

double prompts_for_non_inferiority(double sd, double margin) {
  return std::pow((normal_quantile(1 - kAlpha) + normal_quantile(kPower)) * sd / margin, 2);
}

double prompts_for_equivalence_at(double difference, double sd, double margin) {
  // Away from zero one of the two tests decides; at zero both do.
  return std::max(prompts_for_equivalence(sd, margin),
                  prompts_for_non_inferiority_at(std::abs(difference), sd, margin));
}

double prompts_for_non_inferiority_at(double worse, double sd, double margin) {
  if (worse >= margin) return std::numeric_limits<double>::infinity();
  return prompts_for_non_inferiority(sd, margin - worse);
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
