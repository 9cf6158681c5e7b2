#include <doctest/doctest.h>

#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;

std::unique_ptr<Acceptance> speculative(const std::string& options = "") {
  return testing::part(&Registries::acceptance, "speculative", options);
}

TEST_CASE("the ratio test accepts with min(1, p/q)") {
  const auto rule = speculative();
  const Distribution p = of({0.2, 0.8}), q = of({0.5, 0.5});
  CHECK(rule->probability({0, p, &q, 0}) == doctest::Approx(0.4));       // The ratio is 0.2 / 0.5.
  CHECK(rule->probability({1, p, &q, 0}) == 1);                          // That is 0.8 > 0.5.
  CHECK(rule->probability({0, p, nullptr, 0}) == doctest::Approx(0.2));  // A point mass claims 1.
}

TEST_CASE("ratios a hair below one are tested as they are: the law is the target's") {
  const auto rule = speculative();
  const Distribution p = of({0.5 - 2.5e-5, 0.5 + 2.5e-5}), q = of({0.5, 0.5});
  CHECK(std::abs(rule->probability({0, p, &q, 0}) - (1 - 5e-5)) < 1e-12);
  CHECK(rule->probability({1, p, &q, 0}) == 1);
  const Distribution more = rule->replacement({0, p, &q, 0});
  double accepted = 0, variation = 0;
  for (Token token = 0; token < 2; ++token)
    accepted += q.probability(token) * rule->probability({token, p, &q, 0});
  for (Token token = 0; token < 2; ++token) {
    const double law = q.probability(token) * rule->probability({token, p, &q, 0}) +
                       (1 - accepted) * more.probability(token);
    variation += std::abs(law - p.probability(token)) / 2;
  }
  CHECK(variation < 1e-12);
  // The same of densities, by their logarithms.
  CHECK(std::abs(rule->probability(-5e-5, 0.0) - std::exp(-5e-5)) < 1e-12);
}

TEST_CASE("epsilon is added to the ratio, gamma is its exponent") {
  const Distribution p = of({0.2, 0.8}), q = of({0.5, 0.5});
  CHECK(speculative("epsilon = 0.05\n")->probability({0, p, &q, 0}) == doctest::Approx(0.45));
  CHECK(speculative("gamma = 0.5\n")->probability({0, p, &q, 0}) ==
        doctest::Approx(std::sqrt(0.4)));
}

TEST_CASE("the replacement is what the draft left uncovered") {
  const auto rule = speculative();
  const Distribution p = of({0.2, 0.5, 0.3}), q = of({0.6, 0.3, 0.1});
  const Distribution left = rule->replacement({0, p, &q, 0});  // The residual is (0, .2, .2) / .4.
  CHECK(left.probability(0) == 0);
  CHECK(left.probability(1) == doctest::Approx(0.5));
  // The replacement is p without token 0.
  const Distribution point = rule->replacement({0, p, nullptr, 0});
  CHECK(point.probability(0) == 0);
  CHECK(point.probability(1) == doctest::Approx(0.625));
  CHECK(rule->replacement({0, p, &p, 0}).probability(0) ==
        doctest::Approx(0.2));  // As q covers p, the residual is p itself.
}

}  // namespace
}  // namespace draftlab
