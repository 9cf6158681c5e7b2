#include "experiments/arm/compared_model.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "core/model/machine.h"
#include "core/prob/distribution.h"

namespace draftlab {
namespace {

Distribution law(std::initializer_list<double> weights) {
  Eigen::ArrayXd array(static_cast<Eigen::Index>(weights.size()));
  std::copy(weights.begin(), weights.end(), array.begin());
  return Distribution(array);
}

// Each of two sums of 50 numbers up to 0.1 is off by at most 49 roundings of 5. Total variation is
// no more than the largest change of a logit.
constexpr double kTwoOrders = 2 * 49 * 5 * unit_roundoff(Precision::f32);

// A model whose logits are sums of single-precision numbers. The sums are taken backwards where a
// forward has more than `most` rows; with `lying` it answers another position then.
class Sums final : public Model {
 public:
  std::size_t most = 100;
  bool lying = false, promises = false;
  void load(const Machine&) override {}
  ModelFacts facts() const override {
    ModelFacts facts;
    facts.vocabulary = 3, facts.family = "sums", facts.rounding = unit_roundoff(Precision::f32);
    return facts;
  }
  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks&) override {
    return std::make_unique<Sequence>(canvas);
  }
  bool rows_are_independent() const override { return promises; }

 private:
  void evaluate(std::span<Pending> batch) override {
    std::size_t rows = 0;
    for (const Pending& pending : batch)
      for (const Ask& ask : pending.question->asks) rows += ask.positions.size();
    for (Pending& pending : batch)
      for (const Ask& ask : pending.question->asks)
        for (const std::int32_t position : ask.positions)
          pending.answer->add(ask.node, position,
                              row(position + (lying && rows > most), rows > most));
  }
  Distribution row(std::int32_t position, bool backwards) const {
    Eigen::ArrayXd weights(3);
    for (int token = 0; token < 3; ++token) {
      std::vector<float> terms;
      for (int i = 0; i < 50; ++i)
        terms.push_back(std::sin(static_cast<float>(i * (token + 3) + 7 * position)) / 10);
      if (backwards) std::reverse(terms.begin(), terms.end());
      const float logit = std::accumulate(terms.begin(), terms.end(), 0.0F);
      weights[token] = std::exp(static_cast<double>(logit));
    }
    return Distribution(weights);
  }
};

// Asks four positions of one canvas, at the committed state and behind a path of two drafts.
std::vector<Agreement> agreements(const std::shared_ptr<Sums>& model) {
  auto comparison = std::make_shared<Comparison>();
  const std::vector<Way> ways = {
      {.name = "row by row", .model = model, .alone = true},
      {.name = "batch 3", .model = model, .sequences = 3, .promised = model->promises},
      {.name = "again", .model = model}};
  comparison->ways.resize(ways.size());
  const auto wrapped = compared(model, ways, comparison);
  const std::vector<std::pair<std::int32_t, Token>> given = {{0, 1}};
  const Canvas canvas(8, given);
  const auto sequence = wrapped->open(canvas);
  const Question question{.kind = Kind::verify,
                          .view = View::causal,
                          .nodes = {{kRoot, 1, 2}, {0, 2, 0}},
                          .asks = {{kRoot, {1}}, {0, {2}}, {1, {3, 4}}}};
  Answer answer;
  Pending pending{sequence.get(), &question, &answer};
  wrapped->answer({&pending, 1});
  CHECK(answer.at(1, 4).probabilities().sum() == doctest::Approx(1));
  return comparison->ways;
}

TEST_CASE("a model whose rows do not know of each other has the same bits in every way") {
  for (const Agreement& way : agreements(std::make_shared<Sums>())) {
    CHECK(way.rows > 0);
    CHECK(way.same_bits == way.rows);
    CHECK(way.faults == 0);
    CHECK(!way.first);
  }
}

TEST_CASE("each asked row is compared once for each sequence") {
  const auto ways = agreements(std::make_shared<Sums>());
  CHECK(ways[0].rows == 4);
  CHECK(ways[1].rows == 12);
}

TEST_CASE("sums in another order are found where rows share a forward, and are rounding") {
  const auto model = std::make_shared<Sums>();
  model->most = 1;
  const auto ways = agreements(model);
  CHECK(ways[0].same_bits < ways[0].rows);
  CHECK(ways[0].variation > 0);
  CHECK(ways[0].variation < kTwoOrders);
  CHECK(ways[0].faults == 0);
  CHECK(ways[1].same_bits == ways[1].rows);
  CHECK(ways[2].same_bits == ways[2].rows);
}

TEST_CASE("sums in another order are a fault of a model that promises equal bits") {
  const auto model = std::make_shared<Sums>();
  model->most = 4, model->promises = true;
  const auto ways = agreements(model);
  CHECK(ways[0].same_bits == ways[0].rows);
  CHECK(ways[1].faults == ways[1].rows - ways[1].same_bits);
  CHECK(ways[1].faults > 0);
  CHECK(ways[2].faults == 0);
}

TEST_CASE("a row of another position is a fault") {
  const auto model = std::make_shared<Sums>();
  model->most = 1, model->lying = true;
  const auto ways = agreements(model);
  CHECK(ways[0].faults > 0);
  CHECK(ways[1].faults == 0);
}

TEST_CASE("another most probable token is a tie, rounding or a fault") {
  const double explained = explained_by_rounding(unit_roundoff(Precision::f32));
  const auto cause = [&](const Distribution& reference, const Distribution& other) {
    Agreement agreement;
    add_row(agreement, {5, reference, other}, explained, "p");
    REQUIRE(agreement.first);
    CHECK(agreement.first->position == 5);
    CHECK(agreement.first->prompt == "p");
    CHECK(agreement.first->reference == reference.argmax());
    CHECK(agreement.first->token == other.argmax());
    CHECK(agreement.other_choices[static_cast<std::size_t>(agreement.first->cause)] == 1);
    return agreement.first->cause;
  };
  CHECK(cause(law({1 + 1e-7, 1, 1}), law({1, 1 + 1e-7, 1})) == Cause::tie);
  CHECK(cause(law({1 + 1e-5, 1, 1}), law({1, 1 + 1e-5, 1})) == Cause::rounding);
  CHECK(cause(law({1.01, 1, 1}), law({1, 1.01, 1})) == Cause::fault);
}

TEST_CASE("margins of another choice are those of the two tokens in both laws") {
  Agreement agreement;
  add_row(agreement, {0, law({4, 2, 1}), law({1, 3, 1})}, 1, "");
  REQUIRE(agreement.first);
  CHECK(agreement.first->margin == doctest::Approx(std::log(2)));
  CHECK(agreement.first->other_margin == doctest::Approx(-std::log(3)));
  CHECK(agreement.variation == doctest::Approx(4.0 / 7 - 1.0 / 5));
  CHECK(agreement.log_probability == doctest::Approx(std::log((4.0 / 7) / (1.0 / 5))));
}

TEST_CASE("the distance of two conditions is their largest change, of their largest number") {
  const Eigen::VectorXd reference{{1, -4, 2}}, other{{1, -4, 2.5}};
  CHECK(distance(reference, other) == doctest::Approx(0.5 / 4));
  CHECK(distance(reference, reference) == 0);
}

TEST_CASE("the distance of two laws of vectors bounds their total variation") {
  const Mixture law = Mixture::normal(Eigen::ArrayXd{{0, 1}}, Eigen::ArrayXd{{1, 0.5}}),
                moved = Mixture::normal(Eigen::ArrayXd{{0, 1.1}}, Eigen::ArrayXd{{1, 0.5}}),
                wider = Mixture::normal(Eigen::ArrayXd{{0, 1}}, Eigen::ArrayXd{{1.1, 0.5}});
  CHECK(distance(law, law) == 0);
  // A fifth of a deviation: the divergence is 0.02 nats, and the total variation 0.08.
  CHECK(distance(law, moved) == doctest::Approx(0.1));
  CHECK(distance(law, moved) > std::erf(0.1 / std::sqrt(2.0)));
  const double nats = (1 / 1.21 - 1 + std::log(1.21)) / 2;
  CHECK(distance(law, wider) == doctest::Approx(std::sqrt(nats / 2)));
  Mixture two = law, other = law;
  for (Mixture* mixture : {&two, &other}) {
    mixture->weights = Eigen::ArrayXd{{0.25, 0.75}};
    mixture->mean.push_back(moved.mean[0]);
    mixture->sigma.push_back(moved.sigma[0]);
  }
  other.weights = Eigen::ArrayXd{{0.35, 0.65}};
  CHECK(distance(two, other) == doctest::Approx(0.1));
  other = two;
  other.mean[1] = law.mean[0];
  CHECK(distance(two, other) == doctest::Approx(0.75 * 0.1));
}

// Answers conditions and laws of vectors, which `off` moves.
class Vectors final : public Model {
 public:
  explicit Vectors(double off, double law_off) : off_(off), law_off_(law_off) {}
  void load(const Machine&) override {}
  ModelFacts facts() const override {
    ModelFacts facts;
    facts.family = "vectors", facts.dimension = 2, facts.rounding = unit_roundoff(Precision::f32);
    return facts;
  }
  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks&) override {
    return std::make_unique<Sequence>(canvas);
  }

 private:
  void evaluate(std::span<Pending> batch) override {
    for (Pending& pending : batch) {
      for (const Ask& asked : pending.question->asks)
        for (const std::int32_t position : asked.positions)
          pending.answer->add(asked.node, position, Eigen::VectorXd{{1, position + off_}});
      for (const Reverse& one : pending.question->reverse)
        pending.answer->laws.push_back(
            Mixture::normal(one.state.array() + law_off_, Eigen::ArrayXd::Ones(2)));
    }
  }
  double off_, law_off_;
};

TEST_CASE("conditions and laws of vectors are compared, and beyond rounding they are a fault") {
  const auto faults = [](double off, double law_off) {
    auto comparison = std::make_shared<Comparison>();
    comparison->ways.resize(1);
    const auto wrapped =
        compared(std::make_shared<Vectors>(0, 0),
                 {{.name = "other", .model = std::make_shared<Vectors>(off, law_off)}}, comparison);
    const Canvas canvas(4, std::vector<std::pair<std::int32_t, Token>>{{0, 1}});
    const auto sequence = wrapped->open(canvas);
    Question asking, reversing;
    asking.asks = {{kRoot, {1, 2}}};
    reversing.reverse = {{Eigen::VectorXd(), 1, Eigen::VectorXd::Zero(2)}};
    for (const Question* question : {&asking, &reversing}) {
      Answer answer;
      Pending pending{sequence.get(), question, &answer};
      wrapped->answer({&pending, 1});
      CHECK(answer.laws.size() == question->reverse.size());
    }
    CHECK(comparison->ways[0].rows == 3);
    return std::pair(comparison->ways[0].faults, comparison->ways[0].same_bits);
  };
  CHECK(faults(0, 0) == std::pair<std::int64_t, std::int64_t>(0, 3));
  CHECK(faults(1e-6, 1e-6) == std::pair<std::int64_t, std::int64_t>(0, 0));
  CHECK(faults(1e-2, 0) == std::pair<std::int64_t, std::int64_t>(2, 1));
  CHECK(faults(0, 1e-2) == std::pair<std::int64_t, std::int64_t>(1, 2));
}

}  // namespace
}  // namespace draftlab
