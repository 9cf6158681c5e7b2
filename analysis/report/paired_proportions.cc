#include "analysis/report/paired_proportions.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>

namespace draftlab {
namespace {

constexpr double kCorrection = 1;

// Returns the most likely share of prompts that the baseline alone gets right, of those with which
// the true difference is `difference`: the larger root of a quadratic.
double likely_lost(const Discordance& found, double difference) {
  const double n = found.prompts;
  const double a = 2 * n,
               b = (2 * n - found.gained + found.lost) * difference - found.gained - found.lost,
               c = -found.lost * difference * (1 - difference);
  const double root = (std::sqrt(std::max(0.0, b * b - 4 * a * c)) - b) / (2 * a);
  return std::clamp(root, std::max(0.0, -difference), (1 - difference) / 2);
}

// Returns the difference between `inside`, which the test does not reject, and `outside` at which
// the statistic passes `bound`.
double end_of(const Discordance& found, double inside, double outside, double bound) {
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (inside + outside) / 2;
    (std::abs(score_statistic(found, middle)) <= bound ? inside : outside) = middle;
  }
  return inside;
}

// Returns how many prompts would show it at 80 % power, if what was measured is true: by the
// variance of the discordant prompts and one more, and enough of them for the score test.
template <typename Shown>
double needed(const Discordance& found, double by_variance, const Shown& shown) {
  if (std::isinf(by_variance)) return by_variance;
  double prompts = std::max(1.0, by_variance);
  const auto scaled = [&](double n) {
    const double factor = n / found.prompts;
    return Discordance{found.gained * factor, found.lost * factor, static_cast<int>(std::ceil(n))};
  };
  constexpr double kMost = 1e9, kStep = 1.01;
  while (prompts < kMost && !shown(scaled(prompts))) prompts *= kStep;
  return prompts < kMost ? prompts : std::numeric_limits<double>::infinity();
}

double cautious_sd(const Discordance& found) {
  return std::sqrt((found.gained + found.lost + 1) / found.prompts);
}

double normal_bound(double below) { return boost::math::quantile(boost::math::normal(), below); }

}  // namespace

double score_statistic(const Discordance& found, double difference) {
  const double n = found.prompts, away = found.gained - found.lost - n * difference;
  const double corrected = std::max(0.0, std::abs(away) - kCorrection);
  if (corrected == 0) return 0;
  const double variance = n * (2 * likely_lost(found, difference) + difference * (1 - difference));
  if (!(variance > 0)) return std::copysign(std::numeric_limits<double>::infinity(), away);
  return std::copysign(corrected / std::sqrt(variance), away);
}

double score_p(const Discordance& found) {
  return std::erfc(std::abs(score_statistic(found, 0)) / std::sqrt(2.0));
}

Estimate difference(const Discordance& found, double confidence) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (found.prompts == 0) return {kNaN, {kNaN, kNaN}};
  const double value = (found.gained - found.lost) / found.prompts;
  if (found.prompts < 2) return {value, {kNaN, kNaN}};
  const double bound = normal_bound((1 + confidence) / 2);
  return {value, {end_of(found, value, -1, bound), end_of(found, value, 1, bound)}};
}

Equivalence equivalence(const Discordance& found, double margin) {
  Equivalence result = equivalence(difference(found, 1 - 2 * kAlpha), found.prompts, margin);
  const double by_variance =
      prompts_for_equivalence_at(result.difference.value, cautious_sd(found), margin);
  const double bound = normal_bound(1 - kAlpha);
  result.needed = needed(found, by_variance, [&](const Discordance& more) {
    return score_statistic(more, margin) < -bound && score_statistic(more, -margin) > bound;
  });
  return result;
}

NonInferiority non_inferiority(const Discordance& found, double margin, int sign) {
  const Estimate gained = difference(found, 1 - 2 * kAlpha);
  NonInferiority result = non_inferiority(gained, found.prompts, margin, sign);
  const double by_variance =
      prompts_for_non_inferiority_at(-sign * gained.value, cautious_sd(found), margin);
  const double bound = normal_bound(1 - kAlpha);
  result.needed = needed(found, by_variance, [&](const Discordance& more) {
    return sign * score_statistic(more, -sign * margin) > bound;
  });
  return result;
}

}  // namespace draftlab
