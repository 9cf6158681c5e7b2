#include "core/prob/distribution.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "core/base/error.h"
#include "tests/core/prob/of.h"

namespace draftlab {
namespace {

using testing::of;

void check_equal(const Distribution& distribution, std::initializer_list<double> expected) {
  REQUIRE(distribution.size() == static_cast<int>(expected.size()));
  Token token = 0;
  for (const double p : expected) {
    CAPTURE(token);
    CHECK(distribution.probability(token++) == doctest::Approx(p).epsilon(1e-12));
  }
}

}  // namespace

TEST_CASE("the best tokens come most probable first, the lowest id among equals") {
  CHECK(of({1, 3, 3, 4}).best(3) == std::vector<Token>{3, 1, 2});
  CHECK(of({1, 1}).best(5) == std::vector<Token>{0, 1});
}

TEST_CASE("weights are normalised") {
  check_equal(of({1, 3, 0, 4}), {.125, .375, 0, .5});
  CHECK_THROWS_AS(of({0, 0}), Fault);
  CHECK_THROWS_AS(of({1, -1, 2}), Fault);
}

TEST_CASE("logits: softmax without the excluded token, in double, without overflow") {
  // The exponentials are 1, 2 and 5; the third logit is excluded.
  const std::vector<float> logits{1000, 1000 + std::log(2.0f), 2000, 1000 + std::log(5.0f)};
  const Distribution p = Distribution::from_logits(nullptr, logits, 2);
  CHECK(p.size() == 4);
  CHECK(p.probability(0) == doctest::Approx(.125).epsilon(1e-4));
  CHECK(p.probability(1) == doctest::Approx(.25).epsilon(1e-4));
  CHECK(p.probability(2) == 0);
  CHECK(p.probability(3) == doctest::Approx(.625).epsilon(1e-4));
  CHECK(p.probabilities().sum() == doctest::Approx(1).epsilon(1e-14));
  CHECK(p.log_probability(2) == -std::numeric_limits<double>::infinity());
  CHECK(p.log_probability(1) == doctest::Approx(std::log(p.probability(1))).epsilon(1e-12));

  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> impossible{0, -infinity, 0};
  const Distribution q = Distribution::from_logits(nullptr, impossible, kNoToken);
  CHECK(q.probability(1) == 0);
  CHECK(q.entropy() == doctest::Approx(std::log(2)).epsilon(1e-12));
  const std::vector<float> broken{0, std::numeric_limits<float>::quiet_NaN()};
  CHECK_THROWS_AS(Distribution::from_logits(nullptr, broken, kNoToken).probability(0), DataError);
}

TEST_CASE(
    "a mask token whose logit leads by any amount leaves the other probabilities what they are") {
  for (const float lead : {0.f, 10.f, 30.f, 36.f, 38.f, 40.f, 90.f, 700.f, 800.f, 1500.f}) {
    for (const int size : {3, 8, 21}) {
      for (const Token mask : {0, size / 2, size - 1}) {
        CAPTURE(lead);
        CAPTURE(mask);
        std::vector<float> logits(static_cast<std::size_t>(size));
        for (int i = 0; i < size; ++i) logits[i] = 2 * std::sin(static_cast<float>(3 * i + 1));
        logits[mask] = lead;
        long double sum = 0, entropy = 0;
        for (int i = 0; i < size; ++i)
          if (i != mask) sum += std::exp(static_cast<long double>(logits[i]));
        const Distribution p = Distribution::from_logits(nullptr, logits, mask);
        bool close = true;
        for (int i = 0; i < size; ++i) {
          const long double exact =
              i == mask ? 0 : std::exp(static_cast<long double>(logits[i])) / sum;
          if (exact > 0) entropy -= exact * std::log(exact);
          close = close && std::abs(p.probability(i) - exact) <= 1e-15L * exact;
          close =
              close && (i == mask || std::abs(p.log_probability(i) - std::log(exact)) <= 1e-14L);
        }
        CHECK(close);
        CHECK(p.entropy() == doctest::Approx(static_cast<double>(entropy)).epsilon(1e-13));
        CHECK(p.argmax() != mask);
      }
    }
  }
}

// Long rows are read eight numbers at a time.
TEST_CASE("rows of any length: what one number at a time gives") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const int size : {2, 7, 8, 9, 16, 23, 855}) {
    for (const Token excluded : {kNoToken, Token{1}, Token{size - 1}}) {
      CAPTURE(size);
      CAPTURE(excluded);
      std::vector<float> logits(static_cast<std::size_t>(size));
      for (int i = 0; i < size; ++i)
        logits[i] = i % 11 == 5 ? -infinity
                                : 9 * std::sin(1.7f * static_cast<float>(i) + 1) -
                                      40 * static_cast<float>(i % 13 == 6) -
                                      900 * static_cast<float>(i % 17 == 3);
      std::vector<long double> exact;
      for (int i = 0; i < size; ++i)
        exact.push_back(i == excluded ? 0 : std::exp(static_cast<long double>(logits[i])));
      const long double sum = std::accumulate(exact.begin(), exact.end(), 0.0L);
      long double entropy = 0, squares = 0;
      for (long double& p : exact) {
        p /= sum;
        squares += p * p;
        if (p > 0) entropy -= p * std::log(p);
      }
      const Distribution seen = Distribution::from_logits(nullptr, logits, excluded);
      bool close = true;
      for (int i = 0; i < size; ++i)
        close = close && std::abs(seen.probability(i) - exact[i]) <= 6e-16L * exact[i] + 1e-300L;
      CHECK(close);
      const auto largest = std::max_element(exact.begin(), exact.end());
      CHECK(seen.argmax() == largest - exact.begin());
      std::vector<long double> sorted = exact;
      std::sort(sorted.begin(), sorted.end(), std::greater<>());
      CHECK(seen.max() == doctest::Approx(static_cast<double>(sorted[0])).epsilon(1e-15));
      CHECK(seen.margin() ==
            doctest::Approx(static_cast<double>(sorted[0] - sorted[1])).epsilon(1e-14));
      CHECK(seen.entropy() == doctest::Approx(static_cast<double>(entropy)).epsilon(1e-13));
      CHECK(seen.renyi2() == doctest::Approx(static_cast<double>(squares)).epsilon(1e-14));
    }
  }
  for (int broken = 0; broken < 19; ++broken) {
    std::vector<float> logits(19, 1);
    logits[broken] = std::numeric_limits<float>::quiet_NaN();
    CHECK_THROWS_AS(Distribution::from_logits(nullptr, logits, kNoToken).probability(0), DataError);
  }
}

TEST_CASE("the first of equal leaders is found wherever it stands in a long row") {
  constexpr int kSize = 5003;
  for (const Token first : {0, 1, 1023, 1024, 2047, 3000, 4999, 5000, 5001, 5002}) {
    std::vector<float> logits(kSize, -1);
    for (Token token = first; token < kSize; token += 900) logits[token] = 2;
    CAPTURE(first);
    CHECK(Distribution::from_logits(nullptr, logits, kNoToken).argmax() == first);
    CHECK(Distribution::from_logits(nullptr, logits, first).argmax() ==
          (first + 900 < kSize ? first + 900 : 0));
    Eigen::ArrayXd weights = Eigen::ArrayXd::Ones(kSize);
    for (Token token = first; token < kSize; token += 900) weights[token] = 2;
    CHECK(Distribution(weights).argmax() == first);
    const double ahead = first + 900 < kSize ? 0 : 1 / weights.sum();
    CHECK(std::abs(Distribution(weights).margin() - ahead) < 1e-15);
  }
}

TEST_CASE("summaries") {
  const Distribution p = of({.5, .25, 0, .25});
  CHECK(p.argmax() == 0);
  CHECK(p.max() == .5);
  CHECK(p.margin() == .25);
  CHECK(p.entropy() == doctest::Approx(1.5 * std::log(2)).epsilon(1e-14));
  CHECK(p.renyi2() == doctest::Approx(.375).epsilon(1e-14));
  CHECK(of({1, 2, 2}).argmax() == 1);
  CHECK(of({1, 2, 2}).margin() == 0);
  CHECK(Distribution::point(2, 3).entropy() == 0);
  CHECK(Distribution::uniform(8).entropy() == doctest::Approx(3 * std::log(2)).epsilon(1e-14));
}

TEST_CASE("the quantile skips tokens of probability zero and survives rounding") {
  const Distribution p = of({0, .25, 0, .75, 0});
  CHECK(p.quantile(0) == 1);
  CHECK(p.quantile(.2499) == 1);
  CHECK(p.quantile(.25) == 3);
  CHECK(p.quantile(std::nextafter(1.0, 0.0)) == 3);
  // Ten times .1 sums to less than one.
  Eigen::ArrayXd tenths = Eigen::ArrayXd::Constant(12, .1);
  tenths[10] = tenths[11] = 0;
  CHECK(Distribution(tenths).quantile(std::nextafter(1.0, 0.0)) == 9);
}

TEST_CASE("shaping") {
  const Distribution p = of({.1, .4, .2, .3});
  CHECK(&shaped(p, {}).probabilities() == &p.probabilities());  // The same handle.
  CHECK(&shaped(p, {1, 4, 1}).probabilities() == &p.probabilities());
  check_equal(shaped(p, {.temperature = 0}), {0, 1, 0, 0});
  check_equal(shaped(p, {.temperature = .5}), {1 / 30., 16 / 30., 4 / 30., 9 / 30.});
  check_equal(shaped(p, {.top_k = 2}), {0, 4 / 7., 0, 3 / 7.});
  check_equal(shaped(p, {.top_k = 1}), {0, 1, 0, 0});
  check_equal(shaped(p, {.top_p = .5}), {0, 4 / 7., 0, 3 / 7.});
  check_equal(shaped(p, {.top_p = .7}), {0, 4 / 7., 0, 3 / 7.});  // The bound is reached exactly.
  check_equal(shaped(p, {.top_p = .71}), {0, 4 / 9., 2 / 9., 3 / 9.});
  check_equal(shaped(p, {.top_p = 1e-9}), {0, 1, 0, 0});
  check_equal(shaped(p, {.top_k = 3, .top_p = .75}),
              {0, 4 / 7., 0, 3 / 7.});  // That is .4 + .3 of .9 is 78 %.
  // Where probabilities tie, the lowest ids are kept.
  check_equal(shaped(of({1, 1, 1, 1}), {.top_k = 2}), {.5, .5, 0, 0});
  check_equal(shaped(of({0, 1e-300, 1}), {.temperature = .01}), {0, 0, 1});
}

TEST_CASE("a temperature next to 0 takes the best token") {
  const std::vector<float> logits = {1.25f, 3.5f, 3.4999998f, -2.0f, 0.1f};
  const Distribution raw = Distribution::from_logits(nullptr, logits, kNoToken);
  for (const double temperature : {1e-300, 1e-30, 1e-9}) {
    Sampling sampling;
    sampling.temperature = temperature;
    CHECK(shaped(raw, sampling).probability(1) == 1);
    CHECK(shaped(Distribution(Eigen::ArrayXd{{0.3, 0.1, 0.6}}), sampling).probability(2) == 1);
  }
}

TEST_CASE("logits that are not finite are bad data") {
  for (const float bad : {NAN, INFINITY}) {
    const std::vector<float> logits = {1, bad, 2};
    CHECK_THROWS_AS(Distribution::from_logits(nullptr, logits, kNoToken).probability(0), DataError);
  }
}

TEST_CASE("the residual") {
  check_equal(residual(of({.5, .3, .2}), of({.2, .6, .2})), {1, 0, 0});
  check_equal(residual(of({.6, .3, .1}), of({.2, .6, .2})), {1, 0, 0});
  check_equal(residual(of({.5, .4, .1}), of({.2, .2, .6})), {.6, .4, 0});
  check_equal(residual(of({.5, .5}), of({.5, .5})), {.5, .5});
  CHECK_THROWS_AS(residual(of({1}), of({1, 1})), Fault);
}

// Whatever vectors the processor has, all numbers of a row are seen, also those beyond the last
// whole vector.
TEST_CASE("a row of many logits has the probabilities and the moments of a plain sum") {
  for (const int size : {7, 8, 12, 16, 1003}) {
    CAPTURE(size);
    std::vector<float> logits(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < logits.size(); ++i)
      logits[i] = static_cast<float>(6 * std::sin(0.7 * static_cast<double>(i * i % 997)));
    const Distribution row = Distribution::from_logits(nullptr, logits, kNoToken);
    double sum = 0, squares = 0, entropy = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
    std::vector<double> sorted;
    for (Token token = 0; token < size; ++token) {
      const double p = std::exp(static_cast<double>(logits[token])) / sum;
      CHECK(row.probability(token) == doctest::Approx(p).epsilon(1e-13));
      squares += p * p, entropy -= p * std::log(p);
      sorted.push_back(p);
    }
    std::sort(sorted.rbegin(), sorted.rend());
    CHECK(row.max() == doctest::Approx(sorted[0]).epsilon(1e-13));
    CHECK(row.margin() == doctest::Approx(sorted[0] - sorted[1]).epsilon(1e-11));
    CHECK(row.renyi2() == doctest::Approx(squares).epsilon(1e-12));
    CHECK(row.entropy() == doctest::Approx(entropy).epsilon(1e-11));
  }
}

TEST_CASE("of a large vocabulary one probability has the bits that it has among all") {
  constexpr int kSize = 5003;
  std::vector<float> logits(kSize);
  for (std::size_t i = 0; i < logits.size(); ++i)
    logits[i] = static_cast<float>(3 * std::sin(0.7 * static_cast<double>(i * i % 997)));
  for (const Token excluded : {kNoToken, Token{0}, Token{1234}, Token{kSize - 1}}) {
    CAPTURE(excluded);
    const auto row = [&] { return Distribution::from_logits(nullptr, logits, excluded); };
    const Distribution all = row();
    const Eigen::ArrayXd& p = all.probabilities();
    for (const Token token : {0, 1, 7, 1233, 1234, 1235, 4999, 5000, 5001, 5002}) {
      CAPTURE(token);
      const Distribution alone = row();
      CHECK(alone.probability(token) == p[token]);
      CHECK(row().log_probability(token) == all.log_probability(token));
      CHECK(alone.quantile(0.5) == all.quantile(0.5));
    }
    const Distribution often = row();
    for (Token token = 0; token < 20; ++token) CHECK(often.probability(token) == p[token]);
  }
}

TEST_CASE("of a large vocabulary a draw is the token at which the sum passes") {
  constexpr int kSize = 6001;
  Eigen::ArrayXd weights = Eigen::ArrayXd::Zero(kSize);
  for (int i = 0; i < kSize; ++i)
    if (i % 3 != 1) weights[i] = 1 + std::sin(0.1 * i);
  const Distribution row(weights);
  const Eigen::ArrayXd& p = row.probabilities();
  double sum = 0;
  for (Token token = 0; token < kSize; ++token) {
    if (p[token] == 0) continue;
    CAPTURE(token);
    CHECK(row.quantile(sum + 0.5 * p[token]) == token);
    // What passes only by the last bit is told by summing token by token.
    CHECK(row.quantile(sum) == token);
    sum += p[token];
  }
}

}  // namespace draftlab
