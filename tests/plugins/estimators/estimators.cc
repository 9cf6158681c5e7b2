// Every estimator on distributions over three tokens, and Eq. 5 of S2D2 over their alphas.
#include <doctest/doctest.h>

#include <cmath>

#include "core/config/config.h"
#include "core/config/plugin.h"
#include "plugins/builtin.h"

using namespace draftlab;

namespace {

std::unique_ptr<TokenEstimator> estimator(const std::string& name,
                                          const std::string& options = "") {
  Registries registries;
  register_builtin_plugins(registries);
  Diagnostics diagnostics;
  const Config config =
      Config::parse("[estimator." + name + "]\n" + options, "test.ini", diagnostics);
  const auto bound =
      registries.estimators.find(name)->bind(config, "estimator." + name, diagnostics);
  diagnostics.raise();
  std::unique_ptr<Estimator> made = bound.make();
  auto* const token = dynamic_cast<TokenEstimator*>(made.release());
  REQUIRE(token);
  return std::unique_ptr<TokenEstimator>(token);
}

// Drafts of a span, each with the distribution it was drawn from and its token.
struct Drafts {
  Eigen::ArrayXd confidence, margin, entropy, renyi2;
  StepView view;

  Drafts(std::vector<std::vector<double>> distributions, std::vector<Token> tokens, int span) {
    const auto size = static_cast<Eigen::Index>(tokens.size());
    confidence = margin = entropy = renyi2 = Eigen::ArrayXd(size);
    for (Eigen::Index i = 0; i < size; ++i) {
      const Distribution p(
          Eigen::Map<Eigen::ArrayXd>(distributions[i].data(),
                                     static_cast<Eigen::Index>(distributions[i].size()))
              .eval());
      confidence[i] = p.probability(tokens[i]);
      margin[i] = p.margin();
      entropy[i] = p.entropy();
      renyi2[i] = p.renyi2();
    }
    view.span.length = span;
    view.vocabulary = 3;
    view.confidence = {confidence.data(), size};
    view.margin = {margin.data(), size};
    view.entropy = {entropy.data(), size};
    view.renyi2 = {renyi2.data(), size};
  }
};

// (1/2, 1/4, 1/4), and of it token 1: H = 1.5 ln 2, margin 1/4, sum of squares 3/8, probability
// 1/4.
Drafts one() { return {{{0.5, 0.25, 0.25}}, {1}, 1}; }

}  // namespace

TEST_CASE("entropy: exp(-beta H / ln V)") {
  const double normalised = 1.5 * std::log(2.0) / std::log(3.0);  // That is 0.9464.
  CHECK(estimator("entropy")->alpha(one().view)[0] ==
        doctest::Approx(std::exp(-normalised)));  // That is 0.3881.
  CHECK(estimator("entropy", "beta = 0.5")->alpha(one().view)[0] ==
        doctest::Approx(0.6230).epsilon(1e-4));
  CHECK(estimator("entropy", "width = 8")->alpha(one().view)[0] ==
        doctest::Approx(std::exp(-0.5)));  // That is 1.5 bits of 3.
  const double third = 1.0 / 3;
  CHECK(estimator("entropy")->alpha(Drafts({{third, third, third}}, {0}, 1).view)[0] ==
        doctest::Approx(std::exp(-1.0)));
  CHECK(estimator("entropy")->alpha(Drafts({{0, 1, 0}}, {1}, 1).view)[0] == 1);
}

TEST_CASE("confidence: the drafted token's probability to a power") {
  CHECK(estimator("confidence")->alpha(one().view)[0] == 0.25);
  CHECK(estimator("confidence", "power = 0.5")->alpha(one().view)[0] == 0.5);
  CHECK(estimator("confidence", "power = 1.5")->alpha(one().view)[0] == 0.125);
}

TEST_CASE("renyi2: the sum of squares") {
  CHECK(estimator("renyi2")->alpha(one().view)[0] == 0.375);
}

TEST_CASE("hard entropy: below the threshold") {
  // (1/2, 1/2, 0): ln 2 / ln 4 = 1/2 at V = 4.
  const Drafts even({{0.5, 0.5, 0}}, {0}, 1);
  CHECK(estimator("hard-entropy", "width = 4\nthreshold = 0.51")->alpha(even.view)[0] == 1);
  CHECK(estimator("hard-entropy", "width = 4\nthreshold = 0.49")->alpha(even.view)[0] == 0);
  CHECK(estimator("hard-entropy", "threshold = 0")->alpha(Drafts({{1, 0, 0}}, {0}, 1).view)[0] ==
        0);  // That is 0 is not below 0.
}

TEST_CASE("hard entropy is normalised by the vocabulary where no width is said") {
  // (1/2, 1/2, 0): ln 2 / ln 3 = .631 at V = 3.
  const Drafts even({{0.5, 0.5, 0}}, {0}, 1);
  CHECK(estimator("hard-entropy", "threshold = 0.64")->alpha(even.view)[0] == 1);
  CHECK(estimator("hard-entropy", "threshold = 0.62")->alpha(even.view)[0] == 0);
}

TEST_CASE("hard margin: at least the threshold, or above it") {
  CHECK(estimator("hard-margin", "threshold = 0.2")->alpha(one().view)[0] == 1);
  CHECK(estimator("hard-margin", "threshold = 0.25")->alpha(one().view)[0] == 1);
  CHECK(estimator("hard-margin", "threshold = 0.25\nstrict = true")->alpha(one().view)[0] == 0);
  CHECK(estimator("hard-margin", "threshold = 0.26")->alpha(one().view)[0] == 0);
}

TEST_CASE("clipped margin: the margin times the slope, at most 1") {
  CHECK(estimator("clipped-margin")->alpha(one().view)[0] == 0.25);
  CHECK(estimator("clipped-margin", "slope = 3")->alpha(one().view)[0] == 0.75);
  CHECK(estimator("clipped-margin", "slope = 5")->alpha(one().view)[0] == 1);
  CHECK(estimator("clipped-margin", "slope = 3")->expected(one().view) == 0.75);
}

TEST_CASE("random: a fixed function of sequence, step and position, uniform over them") {
  const auto rule = estimator("random");
  std::vector<double> seen;
  for (std::uint64_t sequence = 0; sequence < 20; ++sequence) {
    for (int step = 0; step < 20; ++step) {
      Drafts drafts({{1, 0, 0}, {1, 0, 0}, {1, 0, 0}}, {0, 0, 0}, 3);
      drafts.view.sequence = sequence;
      drafts.view.step = step;
      const Eigen::ArrayXd alpha = rule->alpha(drafts.view);
      CHECK((alpha == rule->alpha(drafts.view)).all());
      for (const double a : alpha) seen.push_back(a);
    }
  }
  std::sort(seen.begin(), seen.end());
  CHECK(std::unique(seen.begin(), seen.end()) == seen.end());
  // Distance from the uniform distribution (Kolmogorov): 1200 numbers stay within 0.047 nineteen
  // times in twenty.
  double largest = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    largest = std::max(largest, std::abs(seen[i] - (static_cast<double>(i) + 0.5) /
                                                       static_cast<double>(seen.size())));
  }
  CHECK(largest < 0.047);
}

TEST_CASE("observed: the mean of the probabilities of earlier drafts, which forgets") {
  // A chain of three; the third was not reached, and nothing is known of the second but that it
  // was rejected.
  const auto judge = [](TokenEstimator& rule, bool verified, int exact) {
    Proposal proposal;
    proposal.nodes = {{kRoot, 0, 0, {}}, {0, 1, 0, {}}, {1, 2, 0, {}}};
    proposal.exact = exact;
    Verdict verdict;
    verdict.judged = {{.accept = 0.8, .accepted = true},
                      {.accept = kNotMeasured, .accepted = false},
                      {.accept = 0.1, .accepted = true, .reached = false}};
    verdict.proposal = &proposal;
    Route route;
    route.verify = verified;
    rule.observe(Canvas(3, {}), route, verdict);
  };
  const Drafts drafts({{1, 0, 0}, {1, 0, 0}, {1, 0, 0}}, {0, 0, 0}, 3);
  const auto rule = estimator("observed", "prior = 0.25\nweight = 2\nkeeps = 0.5");
  CHECK(rule->alpha(drafts.view).isApprox(Eigen::ArrayXd::Constant(3, 0.25)));
  CHECK(rule->state().empty());
  judge(*rule, false, 0);  // Nothing was judged.
  CHECK(rule->alpha(drafts.view)[0] == 0.25);
  judge(*rule, true, 0);
  CHECK(rule->alpha(drafts.view).isApprox(Eigen::ArrayXd::Constant(3, (0.5 + 0.8) / (2 + 2))));
  judge(*rule, true, 0);
  CHECK(rule->alpha(drafts.view)[2] == doctest::Approx((0.5 + 0.4 + 0.8) / (2 + 1 + 2)));
  const auto deep = estimator("observed", "prior = 0.25\nweight = 2\nby_depth = true");
  judge(*deep, true, 1);  // The first is the target's own.
  CHECK(deep->alpha(drafts.view)[0] == 0.25);
  CHECK(deep->alpha(drafts.view)[1] == doctest::Approx(0.5 / 3));
  CHECK(deep->alpha(drafts.view)[2] == 0.25);
  const auto again = estimator("observed", "prior = 0.25\nweight = 2\nby_depth = true");
  judge(*again, true, 0);
  CHECK(again->state() != deep->state());
}

TEST_CASE("trajectory: exp(-beta x), where x is what was asked for") {
  Registries registries;
  register_builtin_plugins(registries);
  const auto expected = [&](const std::string& options, const StepView& view) {
    Diagnostics diagnostics;
    const Config config =
        Config::parse("[estimator.trajectory]\n" + options, "test.ini", diagnostics);
    const auto bound =
        registries.estimators.find("trajectory")->bind(config, "estimator.trajectory", diagnostics);
    diagnostics.raise();
    return bound.make()->expected(view);
  };
  const Eigen::ArrayXd unknown = Eigen::ArrayXd::Constant(2, kNotMeasured);
  Eigen::ArrayXd spread(2), surprise(2), deviation(2);
  spread << 0, 0.5;
  surprise << 2, 0.25;
  deviation << 4, 0;
  StepView view;
  view.span.length = 2;
  view.entropy = {unknown.data(), 2};
  view.spread = {spread.data(), 2};
  view.surprise = {surprise.data(), 2};
  view.deviation = {deviation.data(), 2};
  CHECK(expected("", view) == doctest::Approx(1 + std::exp(-0.5)));
  CHECK(expected("beta = 2", view) == doctest::Approx(1 + std::exp(-1.0)));
  CHECK(expected("reads = surprise", view) == doctest::Approx(std::exp(-2.0) + std::exp(-2.25)));
  // A point mass has no deviation, and no other token has its density.
  CHECK(expected("reads = deviation", view) == doctest::Approx(std::exp(-0.25)));
  CHECK(expected("reads = deviation\nbeta = 0", view) == 2);
  // The second draft is none of the span's.
  view.span.length = 1;
  CHECK(expected("", view) == 1);
  CHECK(std::isnan(expected("", one().view)));
}

TEST_CASE("the expected prefix is the sum of the running products") {  // Eq. 5.
  // Drafts of probability 1/2, 1/2, 1 in a span of three: 1/2 + 1/4 + 1/4. The fourth mask is none
  // of the span's.
  const Drafts drafts({{0.5, 0.5, 0}, {0.5, 0.25, 0.25}, {1, 0, 0}, {1, 0, 0}}, {0, 0, 0, 0}, 3);
  CHECK(estimator("confidence")->alpha(drafts.view).size() == 3);
  CHECK(estimator("confidence")->expected(drafts.view) == 1.0);
  CHECK(estimator("renyi2")->expected(drafts.view) ==
        doctest::Approx(0.5 + 0.5 * 0.375 + 0.5 * 0.375));
  CHECK(estimator("entropy", "beta = 0")->expected(drafts.view) == 3);
  // A hard threshold counts the drafts before the first that fails: margins 0, 1/4, 1.
  CHECK(estimator("hard-margin", "threshold = 0.2")->expected(drafts.view) == 0);
  const Drafts later({{1, 0, 0}, {0.5, 0.25, 0.25}, {0.5, 0.5, 0}, {1, 0, 0}}, {0, 0, 0, 0}, 4);
  CHECK(estimator("hard-margin", "threshold = 0.2")->expected(later.view) == 2);
}

TEST_CASE("fewer drafts than the span is long") {
  const Drafts drafts({{0.5, 0.5, 0}}, {0}, 8);
  CHECK(estimator("confidence")->expected(drafts.view) == 0.5);
}

TEST_CASE("an estimator that gives no probability, or not one for each draft, is at fault") {
  struct Constant final : TokenEstimator {
    explicit Constant(Eigen::ArrayXd each) : given(std::move(each)) {}
    Eigen::ArrayXd alpha(const StepView&) const override { return given; }
    Eigen::ArrayXd given;
  };
  const Drafts drafts = one();
  const auto expected = [&](const Eigen::ArrayXd& given) {
    return Constant(given).expected(drafts.view);
  };
  CHECK(expected(Eigen::ArrayXd::Constant(1, 1)) == 1);
  CHECK(expected(Eigen::ArrayXd::Constant(1, 0)) == 0);
  CHECK_THROWS_WITH_AS(expected(Eigen::ArrayXd::Constant(1, 1.5)),
                       "an estimator expects a draft to pass with probability 1.5", Fault);
  CHECK_THROWS_AS(expected(Eigen::ArrayXd::Constant(1, -0.5)), Fault);
  CHECK_THROWS_AS(expected(Eigen::ArrayXd::Constant(1, std::nan(""))), Fault);
  CHECK_THROWS_WITH_AS(expected(Eigen::ArrayXd::Constant(2, 1)),
                       "an estimator gives 2 probabilities for 1 drafts", Fault);
}
