// Tokens that are vectors. A vector token is drawn in K reverse steps, each from a diagonal
// Gaussian mixture given the state before it: K = 1 with several components is a head with a
// closed-form density, and K = 10 or 100 with one component is a diffusion head (MAR). A model
// answers what the law of a step is; parts do the drawing.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "core/prob/chance.h"

namespace draftlab {

// A Gaussian mixture with diagonal covariances. With one component it is a Gaussian.
struct Mixture {
  // The weights are positive and sum to one.
  Eigen::ArrayXd weights;
  // The mean and the standard deviation of each component. A component whose standard deviation is
  // zero is a point mass and has no density.
  std::vector<Eigen::ArrayXd> mean, sigma;

  // Makes a mixture of one component.
  static Mixture normal(Eigen::ArrayXd mean, Eigen::ArrayXd sigma);
  bool gaussian() const { return mean.size() == 1; }
  int dimension() const { return mean.empty() ? 0 : static_cast<int>(mean.front().size()); }
  // How many standard normals one draw takes: one a coordinate, and one more where a component must
  // be chosen.
  int noises() const { return dimension() + (gaussian() ? 0 : 1); }
  // The draw that these normals make; the same normals under two laws give aligned draws. Throws a
  // Fault unless there are `noises` of them.
  Eigen::VectorXd at(const Eigen::VectorXd& noise) const;
  // The mean of what `at` draws from, that is a draw without noise. Of a mixture it is the mean of
  // the component that the normals choose.
  Eigen::VectorXd center(const Eigen::VectorXd& noise) const;
  // The component that these normals choose.
  int component(const Eigen::VectorXd& noise) const;
  // The logarithm of the density in nats. Throws DataError where a standard deviation is zero.
  double log_density(const Eigen::VectorXd& y) const;
  // These are independent standard normals if `y` was drawn from this law (Rosenblatt, 1952),
  // whatever made the draw.
  Eigen::VectorXd innovation(const Eigen::VectorXd& y) const;
};

// Asks for the law of the state after reverse step `step` (K first, 1 last), given the state before
// it.
struct Reverse {
  // What the model answered at the token's position. It means something to that model alone.
  Eigen::VectorXd condition;
  int step = 1;
  Eigen::VectorXd state;
};

// How a token was drawn, as far as the drawing has come. A whole trajectory has K + 1 states, of
// which the first is standard normal and the last is the token.
struct Trajectory {
  Eigen::VectorXd condition;
  // The states y_K, ..., y_0.
  std::vector<Eigen::VectorXd> states;
  // The laws that y_{K-1}, ..., y_0 were drawn from.
  std::vector<Mixture> laws;
  // The normals that drew these states.
  std::vector<Eigen::VectorXd> noise;
  // The number of reverse steps, K.
  int steps = 0;
  // The index of the model that answered; 0 is the target.
  int model = 0;
  // When false, y_0 is the mean of its law, as in MAR, and has no density.
  bool final_noise = true;

  // The index t of the last state y_t.
  int at() const { return steps + 1 - static_cast<int>(states.size()); }
  // These return the state y_t, the law of reverse step t (that is, of y_{t-1}), and the normals
  // that drew it.
  const Eigen::VectorXd& state(int t) const { return states[static_cast<std::size_t>(steps - t)]; }
  const Mixture& law(int t) const { return laws[static_cast<std::size_t>(steps - t)]; }
  const Eigen::VectorXd& noise_of(int t) const {
    return noise[static_cast<std::size_t>(steps - t)];
  }
  // Goes on by one step, whose state is drawn from `law` with these normals.
  void take(Mixture law, Eigen::VectorXd normals);
};

// What a drawn token shows of how hard it was to draw.
struct TrajectoryNumbers {
  // The variance of the token's coordinates: 0 where they are all alike (an empty patch).
  double spread = 0;
  // The mean square, in deviations and over coordinates and reverse steps but the first, of how far
  // a law's mean lies from where the step before it pointed; 0 with one step.
  double surprise = 0;
  // The geometric mean of the deviations of all laws. It tells tokens apart where a model has
  // variances of its own.
  double deviation = 0;
};
TrajectoryNumbers numbers_of(const Trajectory& token);

// Draws `count` standard normals at consecutive attempts, beginning with that of `site`.
Eigen::VectorXd normals(Chance& chance, Site site, int count);

// Returns the law that is drawn from, given the model's: its deviations are multiplied by
// `temperature` (MAR). Throws a Fault unless it is a law over `dimension` finite coordinates; the
// message says `who` answered it.
Mixture shaped(Mixture law, double temperature, int dimension, const char* who);

}  // namespace draftlab
