#include "analysis/statistics.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "core/chance.h"
#include "core/error.h"

namespace draftlab {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr Interval kNoInterval{kNaN, kNaN};

double normal_quantile(double p) { return boost::math::quantile(boost::math::normal(), p); }
double normal_below(double z) { return boost::math::cdf(boost::math::normal(), z); }

double sum(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }
double mean(std::span<const double> values) { return sum(values) / static_cast<double>(values.size()); }

double standard_deviation(std::span<const double> values) {
  const double center = mean(values);
  double squares = 0;
  for (double value : values) squares += (value - center) * (value - center);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

void check_paired(std::span<const double> baseline, std::span<const double> arm) {
  if (baseline.size() != arm.size()) {
    throw Fault("a paired comparison got " + std::to_string(baseline.size()) + " prompts of the baseline and " +
                std::to_string(arm.size()) + " of the arm; both must have decoded the same");
  }
}

std::vector<double> differences(std::span<const double> baseline, std::span<const double> arm) {
  check_paired(baseline, arm);
  std::vector<double> result(arm.size());
  for (std::size_t i = 0; i < arm.size(); ++i) result[i] = arm[i] - baseline[i];
  return result;
}

Site draw_site(int draw, std::size_t index) {
  return {.position = draw, .purpose = Purpose::choice, .clock = static_cast<std::uint32_t>(index)};
}

// Of sorted values, linear between neighbours.
double sample_quantile(const std::vector<double>& sorted, double p) {
  const double at = std::clamp(p, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  if (below + 1 == sorted.size()) return sorted.back();
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

// Skewness of the estimate, from its values with one prompt left out.
double acceleration(const std::vector<double>& jackknife) {
  const double center = mean(jackknife);
  double squares = 0, cubes = 0;
  for (double value : jackknife) {
    squares += std::pow(center - value, 2);
    cubes += std::pow(center - value, 3);
  }
  return squares > 0 ? cubes / (6 * std::pow(squares, 1.5)) : 0;
}

// Bias-corrected and accelerated percentiles (Efron 1987) of `draws`, which need not be sorted; expanded (Hesterberg 2015),
// because resampling n prompts understates their variance by (n - 1) / n, and a normal quantile what few of them leave unknown.
Interval bca(double estimate, std::vector<double> draws, const std::vector<double>& jackknife, double confidence) {
  std::sort(draws.begin(), draws.end());
  const double slack = 1e-12 * std::max(1.0, std::abs(estimate));  // draws that equal the estimate up to rounding
  const auto first = std::lower_bound(draws.begin(), draws.end(), estimate - slack);
  const auto last = std::upper_bound(draws.begin(), draws.end(), estimate + slack);
  const double count = static_cast<double>(draws.size());
  const double below = (static_cast<double>(first - draws.begin()) + 0.5 * static_cast<double>(last - first)) / count;
  const double bias = normal_quantile(std::clamp(below, 0.5 / count, 1 - 0.5 / count));
  const double skew = acceleration(jackknife);
  const double n = static_cast<double>(jackknife.size());
  const auto end = [&](double p) {
    const double z = bias + std::sqrt(n / (n - 1)) * boost::math::quantile(boost::math::students_t(n - 1), p);
    const double shrink = 1 - skew * z;
    return sample_quantile(draws, shrink > 0 ? normal_below(bias + z / shrink) : z > 0);
  };
  return {end((1 - confidence) / 2), end((1 + confidence) / 2)};
}

}  // namespace

Estimate speedup(std::span<const double> baseline, std::span<const double> arm, double confidence, Bootstrap bootstrap) {
  check_paired(baseline, arm);
  const std::size_t n = arm.size();
  const double top = sum(baseline), bottom = sum(arm);
  if (!(top > 0 && bottom > 0)) return {kNaN, kNoInterval};
  if (n < 2) return {top / bottom, kNoInterval};
  std::vector<double> jackknife(n), draws(bootstrap.draws);
  for (std::size_t i = 0; i < n; ++i) jackknife[i] = std::log((top - baseline[i]) / (bottom - arm[i]));
  for (int draw = 0; draw < bootstrap.draws; ++draw) {
    double above = 0, below = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto prompt = static_cast<std::size_t>(SampledChance::uniform(bootstrap.seed, draw_site(draw, i)) * static_cast<double>(n));
      above += baseline[prompt];
      below += arm[prompt];
    }
    draws[draw] = std::log(above / below);
  }
  const Interval logs = bca(std::log(top / bottom), std::move(draws), jackknife, confidence);
  return {top / bottom, {std::exp(logs.low), std::exp(logs.high)}};
}

Estimate difference(std::span<const double> baseline, std::span<const double> arm, double confidence) {
  const std::vector<double> d = differences(baseline, arm);
  if (d.empty()) return {kNaN, kNoInterval};
  const double center = mean(d);
  if (d.size() < 2) return {center, kNoInterval};
  const double n = static_cast<double>(d.size());
  const double t = boost::math::quantile(boost::math::students_t(n - 1), (1 + confidence) / 2);
  const double reach = t * standard_deviation(d) / std::sqrt(n);
  return {center, {center - reach, center + reach}};
}

Equivalence equivalence(std::span<const double> baseline, std::span<const double> arm, double margin, double alpha) {
  Equivalence result{.difference = difference(baseline, arm, 1 - 2 * alpha), .margin = margin, .prompts = static_cast<int>(arm.size()), .needed = kNaN};
  const Interval& interval = result.difference.interval;
  if (interval.low > -margin && interval.high < margin) result.finding = Equivalence::Finding::equivalent;
  if (interval.low > margin || interval.high < -margin) result.finding = Equivalence::Finding::different;
  if (arm.size() >= 2) result.needed = prompts_for_equivalence(standard_deviation(differences(baseline, arm)), margin, alpha);
  return result;
}

double prompts_for_equivalence(double sd, double margin, double alpha, double power) {
  return std::pow((normal_quantile(1 - alpha) + normal_quantile((1 + power) / 2)) * sd / margin, 2);
}

double prompts_for_non_inferiority(double sd, double margin, double alpha, double power) {
  return std::pow((normal_quantile(1 - alpha) + normal_quantile(power)) * sd / margin, 2);
}

double sign_flip_p(std::span<const double> differences, Bootstrap bootstrap) {
  const std::size_t n = differences.size();
  if (n == 0) return 1;
  const double observed = std::abs(sum(differences));
  const double enough = observed - 1e-12 * std::max(1.0, observed);  // sums that equal the observed one up to rounding count
  const bool exact = n <= 14;
  const int flips = exact ? 1 << n : bootstrap.draws;
  int extreme = 0;
  for (int flip = 0; flip < flips; ++flip) {
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const bool negative = exact ? (flip >> i) & 1 : SampledChance::uniform(bootstrap.seed, draw_site(flip, i)) < 0.5;
      total += negative ? -differences[i] : differences[i];
    }
    extreme += std::abs(total) >= enough;
  }
  // The observed signs are one of the random ones, so p is never zero.
  return exact ? static_cast<double>(extreme) / flips : (extreme + 1.0) / (flips + 1.0);
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    largest = std::max(largest, std::min(1.0, p[order[rank]] * static_cast<double>(order.size() - rank)));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

}  // namespace draftlab
