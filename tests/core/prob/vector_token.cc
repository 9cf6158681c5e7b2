#include "core/prob/vector_token.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/base/error.h"

namespace draftlab {
namespace {

Eigen::VectorXd vector(std::initializer_list<double> numbers) {
  Eigen::VectorXd made(static_cast<Eigen::Index>(numbers.size()));
  Eigen::Index i = 0;
  for (const double x : numbers) made[i++] = x;
  return made;
}

const Mixture kGaussian = Mixture::normal(vector({1, -2}), vector({0.5, 3}));
const Mixture kTwo{vector({0.25, 0.75}), {vector({-1}), vector({2})}, {vector({0.5}), vector({1})}};

TEST_CASE("a law's density, draw and innovation fit one another") {
  CHECK(kGaussian.noises() == 2);
  CHECK(kGaussian.at(vector({2, -1})) == vector({2, -5}));
  CHECK(kGaussian.innovation(vector({2, -5})).isApprox(vector({2, -1})));
  // log N(2; 1, .5) + log N(-5; -2, 3)
  CHECK(kGaussian.log_density(vector({2, -5})) ==
        doctest::Approx(-2 - 0.5 - std::log(0.5) - std::log(3.0) - std::log(2 * M_PI)));

  CHECK(kTwo.noises() == 2);
  CHECK(kTwo.at(vector({1, -3}))[0] ==
        doctest::Approx(-0.5));  // Phi(-3) < 0.25: the first component.
  CHECK(kTwo.at(vector({1, 0}))[0] == doctest::Approx(3));
  CHECK(kTwo.center(vector({1, 0}))[0] == doctest::Approx(2));
  const auto density = [](double y) {
    return 0.25 * std::exp(-2 * (y + 1) * (y + 1)) / (0.5 * std::sqrt(2 * M_PI)) +
           0.75 * std::exp(-(y - 2) * (y - 2) / 2) / std::sqrt(2 * M_PI);
  };
  CHECK(std::exp(kTwo.log_density(vector({0.3}))) == doctest::Approx(density(0.3)));
  // Phi(innovation) is the distribution function, whose derivative is the density.
  const auto below = [](double y) {
    return 0.5 * std::erfc(-kTwo.innovation(vector({y}))[0] / std::sqrt(2.0));
  };
  CHECK((below(0.301) - below(0.299)) / 0.002 == doctest::Approx(density(0.3)).epsilon(1e-5));
  CHECK(kTwo.innovation(vector({30}))[0] ==
        doctest::Approx(28).epsilon(0.01));  // Neither tail is lost to rounding.
}

TEST_CASE("the second coordinate's innovation knows which component the first came from") {
  const Mixture law{
      vector({0.5, 0.5}), {vector({-10, 5}), vector({10, -5})}, {vector({1, 1}), vector({1, 1})}};
  CHECK(law.innovation(vector({-10, 5.7}))[1] == doctest::Approx(0.7));
  CHECK(law.innovation(vector({10, -5.7}))[1] == doctest::Approx(-0.7));
}

TEST_CASE("a trajectory is filled from its start to the token") {
  Trajectory token{.condition = vector({7}),
                   .states = {vector({0.5})},
                   .laws = {},
                   .noise = {},
                   .steps = 2,
                   .model = 1,
                   .final_noise = true};
  CHECK(token.at() == 2);
  token.take(Mixture::normal(vector({1}), vector({2})), vector({1}));
  CHECK(token.at() == 1);
  Trajectory noiseless = token;
  noiseless.final_noise = false;
  token.take(Mixture::normal(vector({5}), vector({0.1})), vector({-1}));
  noiseless.take(Mixture::normal(vector({5}), vector({0.1})), vector({-1}));
  CHECK(token.at() == 0);
  CHECK(token.state(2) == vector({0.5}));
  CHECK(token.state(1) == vector({3}));
  CHECK(token.state(0) == vector({4.9}));
  CHECK(noiseless.state(0) == vector({5}));
  CHECK(token.law(1).mean[0][0] == 5);
  CHECK(token.noise_of(2) == vector({1}));
}

TEST_CASE("the numbers of a trajectory, by hand") {
  Trajectory token{.condition = vector({7}),
                   .states = {vector({0, 0})},
                   .laws = {},
                   .noise = {},
                   .steps = 2,
                   .model = 1,
                   .final_noise = true};
  token.take(Mixture::normal(vector({1, -1}), vector({1, 2})), vector({1, 0}));
  token.take(Mixture::normal(vector({2, 1}), vector({0.5, 0.5})), vector({2, 0}));
  // The states are (0, 0), (2, -1) and (3, 1), whose coordinates lie 1 from their mean.
  CHECK(numbers_of(token).spread == 1);
  // The first law points to (1, -1), the second to (0, 2): (-1, 3) apart, in halves.
  CHECK(numbers_of(token).surprise == doctest::Approx((4 + 36) / 2.0));
  CHECK(numbers_of(token).deviation == doctest::Approx(std::pow(1 * 2 * 0.5 * 0.5, 0.25)));

  // A token of one step has nothing to be surprised by; of a mixture the chosen component counts.
  Trajectory mixed = token;
  mixed.states = {vector({0})}, mixed.laws = {}, mixed.noise = {}, mixed.steps = 1;
  mixed.take(kTwo, vector({1, -3}));
  CHECK(numbers_of(mixed).spread == 0);
  CHECK(numbers_of(mixed).surprise == 0);
  CHECK(numbers_of(mixed).deviation == doctest::Approx(0.5));

  // Who keeps no normals leaves a Gaussian's numbers as they are, and of a mixture the spread.
  token.noise = {Eigen::VectorXd(), Eigen::VectorXd()};
  CHECK(numbers_of(token).surprise == doctest::Approx(20));
  mixed.noise = {Eigen::VectorXd()};
  CHECK(numbers_of(mixed).spread == 0);
  CHECK(std::isnan(numbers_of(mixed).deviation));
}

TEST_CASE("what is no law is refused in one sentence") {
  const auto refused = [](const Mixture& law) {
    try {
      shaped(law, 1, 2, "the target");
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string("not refused");
  };
  CHECK(refused(kGaussian) == "not refused");
  CHECK(refused(Mixture::normal(vector({1, NAN}), vector({1, 1}))) ==
        "the target answered a law of a reverse step that is not finite");
  CHECK(refused(Mixture::normal(vector({1, 1}), vector({1, INFINITY}))) ==
        "the target answered a law of a reverse step that is not finite");
  CHECK(refused(Mixture::normal(vector({1, 1}), vector({1, -1}))) ==
        "the target answered a law of a reverse step with a negative standard deviation");
  CHECK(refused(kTwo) ==
        "the target answered a law of a reverse step over 1 coordinates, and its tokens have 2");
  CHECK_THROWS_WITH_AS(
      Mixture::normal(vector({1}), vector({0})).log_density(vector({1})),
      "a reverse step has a standard deviation of zero, so there is no density to verify with",
      DataError);
  CHECK(shaped(kGaussian, 0.5, 2, "").sigma[0].isApprox(vector({0.25, 1.5}).array()));
}

}  // namespace
}  // namespace draftlab
