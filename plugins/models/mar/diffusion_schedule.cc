#include "plugins/models/mar/diffusion_schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/error.h"
#include "core/base/words.h"

namespace draftlab {
namespace {

// Computes Nichol and Dhariwal's Eq. 17 at time t of [0, 1].
double cosine_alpha_bar(double t) {
  const double cosine = std::cos((t + 0.008) / 1.008 * std::numbers::pi / 2);
  return cosine * cosine;
}

}  // namespace

Prediction prediction_of(const std::string& text) {
  for (const Prediction one : {Prediction::epsilon, Prediction::v, Prediction::x0})
    if (word(one) == text) return one;
  throw DataError("a diffusion predicts epsilon, v or x0, not '{}'", text);
}
Variance variance_of(const std::string& text) {
  for (const Variance one : {Variance::learned, Variance::beta, Variance::beta_tilde})
    if (word(one) == text) return one;
  throw DataError("a diffusion's variance is learned, beta or beta-tilde, not '{}'", text);
}

std::vector<int> spaced_timesteps(int total, const std::string& spacing) {
  const bool strided = spacing.starts_with("ddim");
  const std::string digits = strided ? spacing.substr(4) : spacing;
  const bool number = !digits.empty() && digits.size() < 8 &&
                      digits.find_first_not_of("0123456789") == std::string::npos;
  const int count = number ? std::stoi(digits) : 0;
  if (count < 1 || count > total)
    throw DataError("'{}' is no spacing of {} diffusion steps: it is 1 to {}, or that after 'ddim'",
                    spacing, total, total);
  std::vector<int> kept;
  if (strided) {
    for (int stride = 1; stride < total; ++stride) {
      if ((total + stride - 1) / stride != count) continue;
      for (int t = 0; t < total; t += stride) kept.push_back(t);
      return kept;
    }
    throw DataError("no stride of diffusion steps keeps {} of {}", digits, total);
  }
  const double stride = count > 1 ? static_cast<double>(total - 1) / (count - 1) : 1;
  double at = 0;
  for (int i = 0; i < count; ++i, at += stride)
    kept.push_back(static_cast<int>(std::nearbyint(at)));
  return kept;
}

DiffusionSchedule::DiffusionSchedule(const std::string& spacing)
    : timesteps(spaced_timesteps(kDiffusionSteps, spacing)) {
  std::vector<double> all;
  double product = 1;
  for (int i = 0; i < kDiffusionSteps; ++i) {
    const double ratio = cosine_alpha_bar((i + 1.0) / kDiffusionSteps) /
                         cosine_alpha_bar(static_cast<double>(i) / kDiffusionSteps);
    product *= 1 - std::min(1 - ratio, 0.999);
    all.push_back(product);
  }
  const int n = steps();
  beta = alpha_bar = alpha_bar_before = posterior_log_variance = Eigen::ArrayXd(n);
  for (int i = 0; i < n; ++i) {
    alpha_bar[i] = all[timesteps[i]];
    alpha_bar_before[i] = i > 0 ? alpha_bar[i - 1] : 1;
    beta[i] = 1 - alpha_bar[i] / alpha_bar_before[i];
    posterior_log_variance[i] = std::log(beta[i] * (1 - alpha_bar_before[i]) / (1 - alpha_bar[i]));
  }
  posterior_log_variance[0] = n > 1 ? posterior_log_variance[1] : std::log(beta[0]);
}

Eigen::ArrayXd DiffusionSchedule::noised(const Eigen::ArrayXd& x0, const Eigen::ArrayXd& noise,
                                         int step) const {
  return std::sqrt(alpha_bar[step]) * x0 + std::sqrt(1 - alpha_bar[step]) * noise;
}

Eigen::ArrayXd DiffusionSchedule::told(Prediction prediction, const Eigen::ArrayXd& x0,
                                       const Eigen::ArrayXd& noise, int step) const {
  if (prediction == Prediction::epsilon) return noise;
  if (prediction == Prediction::x0) return x0;
  return std::sqrt(alpha_bar[step]) * noise - std::sqrt(1 - alpha_bar[step]) * x0;
}

Eigen::ArrayXd DiffusionSchedule::x0(Prediction prediction, const Eigen::ArrayXd& told,
                                     const Eigen::ArrayXd& state, int step) const {
  const double a = alpha_bar[step];
  if (prediction == Prediction::epsilon)
    return std::sqrt(1 / a) * state - std::sqrt(1 / a - 1) * told;
  if (prediction == Prediction::v) return std::sqrt(a) * state - std::sqrt(1 - a) * told;
  return told;
}

Eigen::ArrayXd DiffusionSchedule::mean(const Eigen::ArrayXd& x0, const Eigen::ArrayXd& state,
                                       int step) const {
  const double before = alpha_bar_before[step], now = alpha_bar[step];
  return (beta[step] * std::sqrt(before) / (1 - now)) * x0 +
         ((1 - before) * std::sqrt(1 - beta[step]) / (1 - now)) * state;
}

Eigen::ArrayXd DiffusionSchedule::log_variance(Variance variance, const Eigen::ArrayXd& share,
                                               int step) const {
  const double least = posterior_log_variance[step];
  if (variance == Variance::learned) return share * std::log(beta[step]) + (1 - share) * least;
  const bool large = variance == Variance::beta && step > 0;
  return Eigen::ArrayXd::Constant(share.size(), large ? std::log(beta[step]) : least);
}

}  // namespace draftlab
