#include "core/prob/vector_token.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace draftlab {
namespace {

double distribution_function(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

// Computes the inverse of the normal distribution function. `upper` is 1 - p, given apart so that
// neither tail is lost to rounding.
double quantile(double p, double upper) {
  if (std::min(p, upper) <= 0)
    return p <= 0 ? -std::numeric_limits<double>::infinity()
                  : std::numeric_limits<double>::infinity();
  const boost::math::normal normal;
  return p <= upper ? boost::math::quantile(normal, p)
                    : boost::math::quantile(boost::math::complement(normal, upper));
}

double log_sum_exp(const Eigen::ArrayXd& x) {
  const double most = x.maxCoeff();
  return std::isfinite(most) ? most + std::log((x - most).exp().sum()) : most;
}

}  // namespace

Mixture Mixture::normal(Eigen::ArrayXd mean, Eigen::ArrayXd sigma) {
  return {Eigen::ArrayXd::Ones(1), {std::move(mean)}, {std::move(sigma)}};
}

int Mixture::component(const Eigen::VectorXd& noise) const {
  if (noise.size() < noises())
    throw Fault("a mixture of {} components over {} coordinates was to be drawn with {} normals",
                mean.size(), dimension(), noise.size());
  if (gaussian()) return 0;
  double left = distribution_function(noise[dimension()]);
  int chosen = 0;
  while (chosen + 1 < static_cast<int>(mean.size()) && left >= weights[chosen])
    left -= weights[chosen++];
  return chosen;
}

Eigen::VectorXd Mixture::at(const Eigen::VectorXd& noise) const {
  const int chosen = component(noise);
  return mean[chosen] + sigma[chosen] * noise.head(dimension()).array();
}

Eigen::VectorXd Mixture::center(const Eigen::VectorXd& noise) const {
  return mean[component(noise)];
}

double Mixture::log_density(const Eigen::VectorXd& y) const {
  Eigen::ArrayXd log(weights.size());
  for (Eigen::Index i = 0; i < log.size(); ++i) {
    if ((sigma[i] <= 0).any())
      throw DataError(
          "a reverse step has a standard deviation of zero, so there is no density to verify with");
    log[i] = std::log(weights[i]) - 0.5 * ((y.array() - mean[i]) / sigma[i]).square().sum() -
             sigma[i].log().sum();
  }
  return log_sum_exp(log) - 0.5 * dimension() * std::log(2 * std::numbers::pi);
}

// Goes coordinate after coordinate: it takes the distribution function of each given those before
// it, which reweigh the components.
Eigen::VectorXd Mixture::innovation(const Eigen::VectorXd& y) const {
  if (gaussian()) return (y.array() - mean[0]) / sigma[0];
  Eigen::VectorXd normal(y.size());
  Eigen::ArrayXd log = weights.log();
  for (Eigen::Index j = 0; j < y.size(); ++j) {
    const Eigen::ArrayXd share = (log - log_sum_exp(log)).exp();
    double below = 0, above = 0;
    for (Eigen::Index i = 0; i < log.size(); ++i) {
      const double z = (y[j] - mean[i][j]) / sigma[i][j];
      below += share[i] * distribution_function(z);
      above += share[i] * distribution_function(-z);
      log[i] -= z * z / 2 + std::log(sigma[i][j]);
    }
    normal[j] = quantile(below, above);
  }
  return normal;
}

void Trajectory::take(Mixture law, Eigen::VectorXd normals) {
  states.push_back(at() == 1 && !final_noise ? law.center(normals) : law.at(normals));
  laws.push_back(std::move(law));
  noise.push_back(std::move(normals));
}

TrajectoryNumbers numbers_of(const Trajectory& token) {
  TrajectoryNumbers numbers;
  const Eigen::ArrayXd value = token.states.back();
  numbers.spread = (value - value.mean()).square().mean();
  double squares = 0, logs = 0;
  // Where the step before pointed: from its state to the mean of its law.
  Eigen::ArrayXd pointed;
  for (std::size_t k = 0; k < token.laws.size(); ++k) {
    const Mixture& law = token.laws[k];
    // Who draws otherwise than by `take` keeps no normals, and a Gaussian needs none here.
    if (!law.gaussian() && token.noise[k].size() < law.noises())
      return {numbers.spread, std::nan(""), std::nan("")};
    const int chosen = law.gaussian() ? 0 : law.component(token.noise[k]);
    const Eigen::ArrayXd& sigma = law.sigma[chosen];
    Eigen::ArrayXd points = law.mean[chosen] - token.states[k].array();
    if (k > 0) squares += ((points - pointed) / sigma).square().mean();
    logs += sigma.log().mean();
    pointed = std::move(points);
  }
  const auto steps = static_cast<double>(token.laws.size());
  numbers.surprise = squares / std::max(1.0, steps - 1);
  numbers.deviation = std::exp(logs / std::max(1.0, steps));
  return numbers;
}

Eigen::VectorXd normals(Chance& chance, Site site, int count) {
  Eigen::VectorXd drawn(count);
  for (int i = 0; i < count; ++i, ++site.attempt) drawn[i] = chance.normal(site);
  return drawn;
}

Mixture shaped(Mixture law, double temperature, int dimension, const char* who) {
  const auto refuse = [&](const std::string& why) {
    throw DataError("{} answered a law of a reverse step {}", who, why);
  };
  if (law.mean.empty() || law.mean.size() != law.sigma.size() ||
      static_cast<std::size_t>(law.weights.size()) != law.mean.size())
    refuse("whose weights, means and standard deviations are not as many");
  for (std::size_t i = 0; i < law.mean.size(); ++i) {
    if (law.mean[i].size() != dimension || law.sigma[i].size() != dimension)
      refuse("over " + std::to_string(law.mean[i].size()) + " coordinates, and its tokens have " +
             std::to_string(dimension));
    if (!law.mean[i].isFinite().all() || !law.sigma[i].isFinite().all())
      refuse("that is not finite");
    if ((law.sigma[i] < 0).any()) refuse("with a negative standard deviation");
    law.sigma[i] *= temperature;
  }
  return law;
}

}  // namespace draftlab
