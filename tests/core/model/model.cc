#include "core/model/model.h"

#include <doctest/doctest.h>

#include "core/base/error.h"

namespace draftlab {

namespace {

// Answers every asked position with a uniform; says that it computed two rows and three positions.
class Uniform final : public Model {
 public:
  void load(const Machine&) override {}
  ModelFacts facts() const override {
    ModelFacts facts;
    facts.vocabulary = 2;
    return facts;
  }
  std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks& = {}) override {
    return std::make_unique<Sequence>(canvas);
  }

 private:
  void evaluate(std::span<Pending> batch) override {
    for (Pending& pending : batch) {
      for (const Ask& ask : pending.question->asks)
        for (const std::int32_t position : ask.positions)
          pending.answer->add(ask.node, position, Distribution::uniform(2));
      pending.rows = 2;
      pending.positions = 3;
    }
  }
};

}  // namespace

TEST_CASE("function evaluations are prefill, draft, verify and commit, and nothing else") {
  Counts counts;
  const Kind kinds[] = {Kind::prefill, Kind::draft, Kind::verify, Kind::commit, Kind::aux};
  for (int i = 0; i < 5; ++i) counts[kinds[i]].calls = 1 << i;
  CHECK(counts.nfe() == 1 + 2 + 4 + 8);
}

TEST_CASE("the form of a question follows from its nodes and view; its leaves are its paths") {
  Question question{
      .kind = Kind::verify, .view = View::causal, .nodes = {}, .asks = {{kRoot, {1}}}};
  CHECK(question.form() == Form::committed);
  CHECK(question.leaves() == 0);
  question.nodes = {{kRoot, 1, 0}, {0, 2, 0}, {0, 2, 1}, {2, 3, 0}, {kRoot, 1, 1}};
  CHECK(question.form() == Form::chain);
  CHECK(question.leaves() == 3);
  question.view = View::bidirectional;
  CHECK(question.form() == Form::branches);
}

TEST_CASE("the model counts evaluations by kind, a batch as one each") {
  Uniform model;
  const Canvas canvas(4, {});
  auto first = model.open(canvas), second = model.open(canvas);
  const Question draft{
      .kind = Kind::draft, .view = View::causal, .nodes = {}, .asks = {{kRoot, {1, 2}}}};
  const Question verify{
      .kind = Kind::verify, .view = View::causal, .nodes = {}, .asks = {{kRoot, {0}}}};
  Answer answers[3];
  Pending both[] = {{first.get(), &draft, &answers[0]}, {second.get(), &draft, &answers[1]}};
  model.answer(both);
  Pending alone[] = {{first.get(), &verify, &answers[2]}};
  model.answer(alone);
  Model::count_aux(*first);

  CHECK(first->counts()[Kind::draft].calls == 1);
  CHECK(first->counts()[Kind::draft].rows == 2);
  CHECK(first->counts()[Kind::draft].positions == 3);
  CHECK(first->counts()[Kind::aux].calls == 1);
  CHECK(first->counts().nfe() == 2);  // Aux is not counted.
  CHECK(first->counts().ns() >= 0);
  CHECK(second->counts().nfe() == 1);
  CHECK(answers[0].at(kRoot, 2).probability(1) == .5);
  CHECK_THROWS_AS(answers[0].at(kRoot, 3), Fault);

  Pending mixed[] = {{first.get(), &draft, &answers[0]}, {second.get(), &verify, &answers[1]}};
  CHECK_THROWS_AS(model.answer(mixed), Fault);
  CHECK(first->counts().nfe() == 2);
}

}  // namespace draftlab
