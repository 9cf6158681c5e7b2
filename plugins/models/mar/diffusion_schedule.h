// Gaussian diffusion of one vector token (Ho et al., 2020; Nichol and Dhariwal, 2021): its noise
// schedule, the respaced steps of sampling, and the law of a reverse step given the network's
// output. It needs no torch.
#pragma once

#include <Eigen/Core>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace draftlab {

// What the network predicts of x_t = sqrt(a) x_0 + sqrt(1 - a) noise: the noise, v = sqrt(a) noise
// - sqrt(1 - a) x_0, or x_0.
enum class Prediction { epsilon, v, x0 };
constexpr std::array<std::string_view, 3> words(Prediction) { return {"epsilon", "v", "x0"}; }
// The variance of a reverse step: the network chooses it between two bounds, or it is one of them.
// The bounds are beta (the larger) and beta-tilde, that of the posterior.
enum class Variance { learned, beta, beta_tilde };
constexpr std::array<std::string_view, 3> words(Variance) {
  return {"learned", "beta", "beta-tilde"};
}
// Reads "epsilon", "v" or "x0". Throws DataError for any other name.
Prediction prediction_of(const std::string& name);
// Reads "learned", "beta" or "beta-tilde". Throws DataError for any other name.
Variance variance_of(const std::string& name);

// The number of steps in training.
inline constexpr int kDiffusionSteps = 1000;

// Returns the timesteps that are kept of `total`, in ascending order: for "N", N of them evenly
// spaced with both ends, and for "ddimN", every (total / N)-th from 0 on. Throws DataError when
// there are no such steps.
std::vector<int> spaced_timesteps(int total, const std::string& spacing);

// Values for each kept step, from the least noise (0) to the most.
struct DiffusionSchedule {
  // What the network is told.
  std::vector<int> timesteps;
  Eigen::ArrayXd beta, alpha_bar, alpha_bar_before;
  // The logarithm of beta-tilde. At step 0, where there is none, it is the value at step 1.
  Eigen::ArrayXd posterior_log_variance;

  // Makes the cosine schedule of kDiffusionSteps, beta at most 0.999, respaced.
  explicit DiffusionSchedule(const std::string& spacing);
  int steps() const { return static_cast<int>(timesteps.size()); }

  Eigen::ArrayXd noised(const Eigen::ArrayXd& x0, const Eigen::ArrayXd& noise, int step) const;
  // Returns what a network of this kind ought to predict there.
  Eigen::ArrayXd told(Prediction prediction, const Eigen::ArrayXd& x0, const Eigen::ArrayXd& noise,
                      int step) const;
  Eigen::ArrayXd x0(Prediction prediction, const Eigen::ArrayXd& told, const Eigen::ArrayXd& state,
                    int step) const;
  // Returns the mean of q(x before | x now, x_0).
  Eigen::ArrayXd mean(const Eigen::ArrayXd& x0, const Eigen::ArrayXd& state, int step) const;
  // `share` is the network's (1 + v) / 2 a dimension, for Variance::learned.
  Eigen::ArrayXd log_variance(Variance variance, const Eigen::ArrayXd& share, int step) const;
};

}  // namespace draftlab
