// Tokens that are vectors. One is drawn in K reverse steps, each from a diagonal Gaussian mixture
// given the state before it: K = 1 and several components are a head with a closed-form density, K
// = 10 or 100 and one component a diffusion head (MAR). A model answers what the law of a step is;
// parts do the drawing.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "core/prob/chance.h"

namespace draftlab {

// A Gaussian mixture with diagonal covariances; one component is a Gaussian.
struct Mixture {
  Eigen::ArrayXd weights;  // positive, summing to one
  std::vector<Eigen::ArrayXd> mean,
      sigma;  // of each component; a standard deviation of zero is a point mass and has no density

  static Mixture normal(Eigen::ArrayXd mean, Eigen::ArrayXd sigma);  // of one component
  bool gaussian() const { return mean.size() == 1; }
  int dimension() const { return mean.empty() ? 0 : static_cast<int>(mean.front().size()); }
  // Standard normals that one draw takes: a coordinate each, and one more where there is a
  // component to be chosen.
  int noises() const { return dimension() + (gaussian() ? 0 : 1); }
  // The draw that these normals make: the same normals under two laws are aligned draws. Fault
  // unless there are `noises` of them.
  Eigen::VectorXd at(const Eigen::VectorXd& noise) const;
  // The mean of what `at` draws from: a draw without noise. Of a mixture, that of the component
  // which the normals choose.
  Eigen::VectorXd center(const Eigen::VectorXd& noise) const;
  double log_density(
      const Eigen::VectorXd& y) const;  // nats; DataError where a standard deviation is zero
  // Independent standard normals if `y` was drawn from this law (Rosenblatt, 1952), whatever made
  // the draw.
  Eigen::VectorXd innovation(const Eigen::VectorXd& y) const;

 private:
  int component(const Eigen::VectorXd& noise) const;
};

// A question: the law of the state after reverse step `step` (K first, 1 last), given the state
// before it.
struct Reverse {
  Eigen::VectorXd condition;  // what the model answered at the token's position; means something to
                              // that model alone
  int step = 1;
  Eigen::VectorXd state;
};

// How a token is drawn, as far as it has been: K + 1 states, the first standard normal and the last
// the token.
struct Trajectory {
  Eigen::VectorXd condition;
  std::vector<Eigen::VectorXd> states;  // y_K, ..., y_0
  std::vector<Mixture> laws;            // of y_{K-1}, ..., y_0: what each was drawn from
  std::vector<Eigen::VectorXd> noise;   // the normals that drew them
  int steps = 0;                        // K
  int model = 0;                        // that answered: 0 is the target
  bool final_noise = true;  // false: y_0 is its law's mean, as MAR's is, and has no density

  int at() const { return steps + 1 - static_cast<int>(states.size()); }  // t of the last state y_t
  // The state y_t; the law of reverse step t, that is of y_{t-1}; the normals that drew it.
  const Eigen::VectorXd& state(int t) const { return states[static_cast<std::size_t>(steps - t)]; }
  const Mixture& law(int t) const { return laws[static_cast<std::size_t>(steps - t)]; }
  const Eigen::VectorXd& noise_of(int t) const {
    return noise[static_cast<std::size_t>(steps - t)];
  }
  // Goes on by one step, drawn from its law with these normals.
  void take(Mixture law, Eigen::VectorXd normals);
};

// `count` standard normals at consecutive attempts from that of `site` on.
Eigen::VectorXd normals(Chance& chance, Site site, int count);

// The law that is drawn from, given the model's: deviations times `temperature` (MAR). Fault unless
// it is one over `dimension` finite coordinates, which names `who` answered it.
Mixture shaped(Mixture law, double temperature, int dimension, const char* who);

}  // namespace draftlab
