// The diffusion's schedule against what can be worked out by hand, and against its own definition.
#include "plugins/models/mar/diffusion_schedule.h"
#include "core/base/words.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "core/base/error.h"

namespace draftlab {

TEST_CASE("spaced timesteps keep both ends, rounded half to even; ddim keeps a stride") {
  CHECK(spaced_timesteps(1000, "10") ==
        std::vector<int>{0, 111, 222, 333, 444, 555, 666, 777, 888, 999});
  const auto hundred = spaced_timesteps(1000, "100");
  CHECK(hundred.size() == 100);
  CHECK(hundred[1] == 10);
  CHECK(hundred[99] == 999);
  CHECK(spaced_timesteps(1000, "ddim8") == std::vector<int>{0, 125, 250, 375, 500, 625, 750, 875});
  // Here 2.5 is halfway and rounds to even.
  CHECK(spaced_timesteps(6, "3") == std::vector<int>{0, 2, 5});
  CHECK(spaced_timesteps(7, "1") == std::vector<int>{0});
  for (const char* wrong : {"", "0", "1001", "ten", "ddim", "-3", "1e3"})
    CHECK_THROWS_AS(spaced_timesteps(1000, wrong), DataError);
  CHECK_THROWS_AS(spaced_timesteps(1000, "ddim300"),
                  DataError);  // Strides of 3 and 4 keep 334 and 250.
}

TEST_CASE("the cosine schedule, whole and respaced") {
  const DiffusionSchedule all("1000"), some("10");
  const double at_zero = std::pow(std::cos(0.008 / 1.008 * std::numbers::pi / 2), 2),
               at_half = std::pow(std::cos(0.508 / 1.008 * std::numbers::pi / 2), 2);
  CHECK(all.alpha_bar[499] == doctest::Approx(at_half / at_zero).epsilon(1e-12));
  CHECK(all.beta[999] == 0.999);  // This is where beta is cut.
  CHECK(all.alpha_bar[999] == doctest::Approx(2.4e-9).epsilon(0.02).scale(0));
  CHECK(some.alpha_bar[4] == all.alpha_bar[444]);
  CHECK(some.beta[4] ==
        doctest::Approx(1 - all.alpha_bar[444] / all.alpha_bar[333]).epsilon(1e-14));
  const DiffusionSchedule hundred("100");
  CHECK(std::exp(0.5 * hundred.posterior_log_variance[0]) ==
        doctest::Approx(0.00624).epsilon(0.001).scale(0));
  CHECK(hundred.posterior_log_variance[0] == hundred.posterior_log_variance[1]);
}

TEST_CASE("the three predictions say the same, and the mean of a reverse step is the posterior's") {
  const DiffusionSchedule schedule("10");
  const Eigen::ArrayXd x0{{0.3, -1.2, 2.0}}, noise{{-0.7, 0.1, 1.5}};
  for (const int step : {0, 3, 8}) {
    const Eigen::ArrayXd state = schedule.noised(x0, noise, step);
    for (const Prediction one : {Prediction::epsilon, Prediction::v, Prediction::x0}) {
      CHECK((schedule.x0(one, schedule.told(one, x0, noise, step), state, step) - x0)
                .abs()
                .maxCoeff() < 1e-9);
    }
  }
  CHECK((schedule.mean(x0, schedule.noised(x0, noise, 0), 0) - x0).abs().maxCoeff() <
        1e-12);  // Nothing is left of the noise.
  // Bayes' rule for x_{t-1} ~ N(sqrt(a') x0, 1 - a') seen through x_t ~ N(sqrt(1 - beta) x_{t-1},
  // beta).
  const int step = 5;
  const Eigen::ArrayXd state = schedule.noised(x0, noise, step);
  const double prior = 1 - schedule.alpha_bar_before[step], beta = schedule.beta[step],
               gain = std::sqrt(1 - beta);
  const double precision = 1 / prior + gain * gain / beta;
  const Eigen::ArrayXd posterior =
      (std::sqrt(schedule.alpha_bar_before[step]) * x0 / prior + gain * state / beta) / precision;
  CHECK((schedule.mean(x0, state, step) - posterior).abs().maxCoeff() < 1e-12);
  CHECK(schedule.posterior_log_variance[step] ==
        doctest::Approx(-std::log(precision)).epsilon(1e-12));
}

TEST_CASE("variances: between the bounds where learned, one of them where fixed") {
  const DiffusionSchedule schedule("10");
  const Eigen::ArrayXd share{{0.0, 0.25, 1.0}};
  const double least = schedule.posterior_log_variance[6], most = std::log(schedule.beta[6]);
  const Eigen::ArrayXd learned = schedule.log_variance(Variance::learned, share, 6);
  CHECK(learned[0] == least);
  CHECK(learned[1] == doctest::Approx(0.75 * least + 0.25 * most));
  CHECK(learned[2] == most);
  CHECK(schedule.log_variance(Variance::beta, share, 6)[0] == most);
  CHECK(schedule.log_variance(Variance::beta_tilde, share, 6)[0] == least);
  CHECK(schedule.log_variance(Variance::beta, share, 0)[0] ==
        schedule.posterior_log_variance[1]);  // Beta at 0 is that of the data's edge.
}

TEST_CASE("kinds by name") {
  for (const Prediction one : {Prediction::epsilon, Prediction::v, Prediction::x0})
    CHECK(prediction_of(std::string(word(one))) == one);
  for (const Variance one : {Variance::learned, Variance::beta, Variance::beta_tilde})
    CHECK(variance_of(std::string(word(one))) == one);
  CHECK_THROWS_AS(prediction_of("noise"), DataError);
  CHECK_THROWS_AS(variance_of("fixed"), DataError);
}

}  // namespace draftlab
