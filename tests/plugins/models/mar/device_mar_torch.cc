// The model mar in tensor operations, as on a GPU: its conditions and laws are those of our
// kernels.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "plugins/models/mar/mar.h"
#include "tests/plugins/models/mar/mar_small_torch.h"
#include "tests/plugins/models/rounding.h"

namespace draftlab {
namespace {

constexpr int kPlaces = 9, kNumbers = 4;

Eigen::VectorXd token_at(int i) {
  Eigen::VectorXd made(kNumbers);
  for (int j = 0; j < kNumbers; ++j) made[j] = std::sin(2.0 + 5 * i + j);
  return made;
}

// One model, computed by our kernels and by tensor operations, and how far the two are apart.
struct BothWays {
  Precision dtype;
  std::unique_ptr<Model> kernels, tensors;
  double conditions = 0, laws = 0;

  BothWays(const SmallMar& small, double guidance, Precision dtype)
      : dtype(dtype), kernels(made(small, guidance)), tensors(made(small, guidance)) {
    kernels->load({Device::cpu, dtype, 1});
    tensors->load({Device::cpu_tensors, dtype, 1});
  }

  static std::unique_ptr<Model> made(const SmallMar& small, double guidance) {
    MarOptions options;
    options.checkpoint = small.path.string();
    options.guidance = guidance;
    return std::unique_ptr<Model>(draftlab_make_mar(&options));
  }

  // The most that conditions and means may be apart, whose numbers stay below 4: an encoder, a
  // decoder and a head of two layers each. Guidance adds and multiplies what the head says.
  double most() const {
    return dtype == Precision::f32
               ? testing::rounding({.layers = 6, .width = 12, .inner = 32, .positions = 20}, 4)
               : 2 * testing::bf16_rounding(6, 4);
  }

  // Asks both one question in their sequences, and compares.
  Answer asked(Sequence& own, Sequence& other, const Question& question) {
    Answer answer, same;
    Pending pending{&own, &question, &answer}, elsewhere{&other, &question, &same};
    kernels->answer({&pending, 1});
    tensors->answer({&elsewhere, 1});
    compare(question, answer, same);
    DOCTEST_CHECK(own.counts()[question.kind].rows == other.counts()[question.kind].rows);
    DOCTEST_CHECK(own.counts()[question.kind].positions == other.counts()[question.kind].positions);
    return answer;
  }

  void compare(const Question& question, const Answer& answer, const Answer& same) {
    for (const Ask& ask : question.asks)
      for (const std::int32_t position : ask.positions)
        conditions = std::max(
            conditions, (answer.condition(ask.node, position) - same.condition(ask.node, position))
                            .cwiseAbs()
                            .maxCoeff());
    DOCTEST_REQUIRE(answer.laws.size() == same.laws.size());
    for (std::size_t i = 0; i < answer.laws.size(); ++i) {
      const Mixture &a = answer.laws[i], &b = same.laws[i];
      laws = std::max({laws, (a.mean[0] - b.mean[0]).abs().maxCoeff(),
                       (a.sigma[0] - b.sigma[0]).abs().maxCoeff()});
    }
  }

  // Asks both for the laws of all reverse steps under a condition, deep and shallow.
  void ask_laws(Sequence& own, Sequence& other, const Eigen::VectorXd& condition) {
    Question question{.kind = Kind::aux, .view = View::bidirectional, .nodes = {}, .asks = {}};
    for (int step = kernels->facts().reverse_steps; step >= 1; --step)
      question.reverse.push_back({condition, step, token_at(step)});
    asked(own, other, question);
    question.shallow = true;
    asked(own, other, question);
  }

  void report(const char* what) const {
    std::cout << "mar, " << what << ", in " << word(dtype)
              << ": tensor operations differ from kernels by at most " << conditions
              << " in conditions and " << laws << " in laws, of " << most() << "\n";
    DOCTEST_CHECK(conditions < most());
    DOCTEST_CHECK(laws < most());
  }
};

Canvas with_class(Token label) {
  return Canvas(kPlaces + 1, std::vector<std::pair<std::int32_t, Token>>{{0, label}});
}

}  // namespace

DOCTEST_TEST_CASE("mar: tensor operations say the conditions and laws of a bidirectional model") {
  MarConfig learned = small_mar(false);
  learned.variance = Variance::learned;
  for (const MarConfig& config : {small_mar(false), learned})
    for (const double guidance : {1.0, 3.0})
      for (const Precision dtype : {Precision::f32, Precision::bf16}) {
        const SmallMar small(config);
        BothWays both(small, guidance, dtype);
        DOCTEST_CHECK(both.kernels->rows_are_independent());
        DOCTEST_CHECK(!both.tensors->rows_are_independent());
        Canvas canvas = with_class(1);
        const auto own = both.kernels->open(canvas), other = both.tensors->open(canvas);
        Question question{
            .kind = Kind::verify, .view = View::bidirectional, .nodes = {}, .asks = {}};
        question.asks = {{kRoot, {7, 2, 9}}};
        both.ask_laws(*own, *other, both.asked(*own, *other, question).condition(kRoot, 2));
        canvas.commit(7, 0, false, token_at(7));
        question.nodes = {
            {kRoot, 5, 0, token_at(5)}, {0, 3, 0, token_at(3)}, {kRoot, 8, 0, token_at(8)}};
        question.asks = {{kRoot, {5}}, {0, {3}}, {1, {9, 1}}, {2, {3}}};
        const Answer branches = both.asked(*own, *other, question);
        both.ask_laws(*own, *other, branches.condition(1, 9));
        // Two sequences share a forward.
        Canvas second = with_class(3);
        const auto own_second = both.kernels->open(second), others = both.tensors->open(second),
                   beside = both.tensors->open(second);
        const Question alone{.kind = Kind::draft,
                             .view = View::bidirectional,
                             .nodes = {},
                             .asks = {{kRoot, {4, 1}}}};
        Answer answers[2];
        Pending batch[2] = {{beside.get(), &alone, &answers[0]},
                            {other.get(), &question, &answers[1]}};
        both.tensors->answer(batch);
        both.compare(question, branches, answers[1]);
        both.compare(alone, both.asked(*own_second, *others, alone), answers[0]);
        both.report(config.variance == Variance::learned ? "learned variances" : "bidirectional");
      }
}

DOCTEST_TEST_CASE("mar: tensor operations keep a causal model's rows, whatever is accepted") {
  const SmallMar small(true);
  for (const double guidance : {1.0, 2.0})
    for (const Precision dtype : {Precision::f32, Precision::bf16}) {
      BothWays both(small, guidance, dtype);
      Canvas canvas = with_class(2);
      const auto own = both.kernels->open(canvas), other = both.tensors->open(canvas);
      // A chain of three, and another token beside the second, which is committed.
      Question question{.kind = Kind::verify, .view = View::causal, .nodes = {}, .asks = {}};
      question.nodes = {{kRoot, 1, 0, token_at(1)},
                        {0, 2, 0, token_at(20)},
                        {0, 2, 0, token_at(2)},
                        {2, 3, 0, token_at(3)},
                        {1, 3, 0, token_at(30)}};
      question.asks = {{kRoot, {1}}, {0, {2}}, {2, {3}}, {3, {4}}, {1, {3}}, {4, {4}}};
      both.asked(*own, *other, question);
      for (int position = 1; position < kPlaces; ++position) {
        canvas.commit(position, 0, false, token_at(position));
        const Question next{.kind = Kind::draft,
                            .view = View::causal,
                            .nodes = {},
                            .asks = {{kRoot, {position + 1}}}};
        const Answer answer = both.asked(*own, *other, next);
        both.ask_laws(*own, *other, answer.condition(kRoot, position + 1));
      }
      both.report("causal");
    }
}

DOCTEST_TEST_CASE("mar: weights in eight bits are multiplied by kernels alone") {
  const SmallMar small;
  const auto model = BothWays::made(small, 1);
  DOCTEST_CHECK_THROWS_WITH_AS(model->load({Device::cpu_tensors, Precision::q8, 1}),
                               "run.device is cpu-tensors: weights in q8 are multiplied on cpu",
                               ConfigError);
}

}  // namespace draftlab
