// The most that any rule accepts with one, two and three drafts, on the laws T1 and T3.
#include "core/prob/transport.h"

#include <doctest/doctest.h>

#include <vector>

namespace draftlab {
namespace {

Distribution law_of(std::initializer_list<double> weights) {
  Eigen::ArrayXd array(static_cast<Eigen::Index>(weights.size()));
  Eigen::Index i = 0;
  for (const double weight : weights) array[i++] = weight;
  return Distribution(std::move(array));
}

Distribution without(const Distribution& law, std::initializer_list<Token> tokens) {
  Eigen::ArrayXd left = law.probabilities();
  for (const Token token : tokens) left[token] = 0;
  return Distribution(std::move(left));
}

double limit(const Distribution& target, const std::vector<Distribution>& drawn_from) {
  return transport_limit(target, drawn_from);
}

const Distribution p1 = law_of({.5, .3, .2}), q1 = law_of({.2, .5, .3}),
                   p3 = law_of({.4, .3, .2, .1}), q3 = law_of({.1, .2, .3, .4});

TEST_CASE("one draft: no rule accepts more than the overlap") {
  CHECK(limit(p1, {q1}) == doctest::Approx(.7).epsilon(1e-9));
  CHECK(limit(p3, {q3}) == doctest::Approx(.6).epsilon(1e-9));
  CHECK(limit(p3, {p3}) == doctest::Approx(1).epsilon(1e-12));
  CHECK(limit(p3, {Distribution::point(3, 4)}) == doctest::Approx(.1).epsilon(1e-9));
}

TEST_CASE("independent drafts") {
  CHECK(limit(p1, {q1, q1}) == doctest::Approx(.86).epsilon(1e-9));
  CHECK(limit(p1, {q1, q1, q1}) == doctest::Approx(.988).epsilon(1e-9));
  CHECK(limit(p3, {q3, q3}) == doctest::Approx(.79).epsilon(1e-9));
  CHECK(limit(p3, {q3, q3, q3}) == doctest::Approx(.871).epsilon(1e-9));
}

TEST_CASE("drafts without replacement, whichever they were") {
  for (const Token drawn : {0, 1, 2}) {
    CAPTURE(drawn);
    CHECK(limit(p1, {q1, without(q1, {drawn})}) == doctest::Approx(.985714286).epsilon(1e-8));
    CHECK(limit(p3, {q3, without(q3, {drawn})}) == doctest::Approx(.834523810).epsilon(1e-8));
  }
  CHECK(limit(p3, {q3, without(q3, {1}), without(q3, {1, 2})}) == doctest::Approx(1).epsilon(1e-8));
}

// By brute force over all sets of tokens and orders of draws, in exact fractions.
TEST_CASE("three drafts without replacement, of five tokens, and of one that is nearly certain") {
  const Distribution p = law_of({.40, .30, .15, .10, .05});
  const auto three = [&](const Distribution& q) {
    return limit(p, {q, without(q, {4}), without(q, {4, 3})});
  };
  CHECK(three(law_of({.05, .10, .15, .25, .45})) == doctest::Approx(.8357911696).epsilon(1e-8));
  CHECK(three(law_of({.001, .002, .003, .004, .990})) ==
        doctest::Approx(.8345238620).epsilon(1e-7));
}

TEST_CASE("greedy drafts: the walk from the root attains the limit") {
  CHECK(limit(p1, {without(q1, {1}), Distribution::point(1, 3)}) ==
        doctest::Approx(.9).epsilon(1e-9));
  CHECK(limit(p3, {without(q3, {3}), Distribution::point(3, 4)}) ==
        doctest::Approx(.766666667).epsilon(1e-8));
  CHECK(limit(p3, {without(q3, {3, 2}), Distribution::point(3, 4), Distribution::point(2, 4)}) ==
        doctest::Approx(.933333333).epsilon(1e-8));
}

}  // namespace
}  // namespace draftlab
