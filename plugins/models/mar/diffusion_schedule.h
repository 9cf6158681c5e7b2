// Gaussian diffusion of one vector token (Ho et al., 2020; Nichol and Dhariwal, 2021): its noise
// schedule, the respaced steps of sampling, and the law of a reverse step given what the network
// said. Torch-free.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <string>
#include <vector>

namespace draftlab {

// What the network predicts of x_t = sqrt(a) x_0 + sqrt(1 - a) noise: the noise, v = sqrt(a) noise
// - sqrt(1 - a) x_0, or x_0.
enum class Prediction { epsilon, v, x0 };
// Of a reverse step: told by the network between the two bounds, or one of them: beta (the larger)
// or beta-tilde, the posterior's.
enum class Variance { learned, beta, beta_tilde };
Prediction prediction_of(const std::string& name);  // "epsilon", "v", "x0"; DataError otherwise
Variance variance_of(
    const std::string& name);  // "learned", "beta", "beta-tilde"; DataError otherwise
std::string name(Prediction prediction);
std::string name(Variance variance);

inline constexpr int kDiffusionSteps = 1000;  // of training

// The kept ones of `total` timesteps, ascending: "N" of them evenly spaced with both ends, or
// "ddimN", every (total / N)-th from 0 on. DataError when there are no such.
std::vector<int> spaced_timesteps(int total, const std::string& spacing);

// One value of each a kept step, from the least noise (0) to the most.
struct DiffusionSchedule {
  std::vector<int> timesteps;  // what the network is told
  Eigen::ArrayXd beta, alpha_bar, alpha_bar_before;
  Eigen::ArrayXd
      posterior_log_variance;  // log beta-tilde; at 0, where that is none, the value at 1

  // The cosine schedule of kDiffusionSteps, beta at most 0.999, respaced.
  explicit DiffusionSchedule(const std::string& spacing);
  int steps() const { return static_cast<int>(timesteps.size()); }

  Eigen::ArrayXd noised(const Eigen::ArrayXd& x0, const Eigen::ArrayXd& noise, int step) const;
  // What a network of this kind ought to say there.
  Eigen::ArrayXd told(Prediction prediction, const Eigen::ArrayXd& x0, const Eigen::ArrayXd& noise,
                      int step) const;
  Eigen::ArrayXd x0(Prediction prediction, const Eigen::ArrayXd& told, const Eigen::ArrayXd& state,
                    int step) const;
  // The mean of q(x before | x now, x_0).
  Eigen::ArrayXd mean(const Eigen::ArrayXd& x0, const Eigen::ArrayXd& state, int step) const;
  // `share`: the network's (1 + v) / 2 a dimension, for Variance::learned.
  Eigen::ArrayXd log_variance(Variance variance, const Eigen::ArrayXd& share, int step) const;
};

}  // namespace draftlab
