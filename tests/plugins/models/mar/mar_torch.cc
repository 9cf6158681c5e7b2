// The model `mar`: what it answers is what the network says, drafted states as committed ones,
// alone as in a batch.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "plugins/models/mar/mar.h"
#include "plugins/models/nn/checkpoint/safetensors.h"
#include "tests/complaint.h"
#include "tests/core/model/ask.h"
#include "tests/plugins/models/mar/mar_small_torch.h"
#include "tests/plugins/models/recorded_torch.h"
#include "tests/plugins/models/rounding.h"

namespace draftlab {
namespace {

using testing::ask;
using testing::complaint;

constexpr int kTokens = 9, kDimension = 4;

std::unique_ptr<Model> make(const SmallMar& small, double guidance = 1,
                            GuidanceSchedule schedule = GuidanceSchedule::linear,
                            ModelDtype dtype = ModelDtype::run) {
  MarOptions options;
  options.dtype = dtype;
  options.checkpoint = small.path.string();
  options.guidance = guidance;
  options.guidance_schedule = schedule;
  std::unique_ptr<Model> model(draftlab_make_mar(&options));
  model->load({.threads = 1});
  return model;
}

Canvas small_canvas(Token label = 1) {
  return Canvas(kTokens + 1, std::vector<std::pair<std::int32_t, Token>>{{0, label}});
}

// The value that position i holds in these tests.
Eigen::VectorXd value(int i) {
  Eigen::VectorXd made(kDimension);
  for (int j = 0; j < kDimension; ++j) made[j] = std::sin(1.0 + 3 * i + j);
  return made;
}

Question at_root(View view, std::vector<std::int32_t> positions) {
  return {.kind = Kind::draft, .view = view, .nodes = {}, .asks = {{kRoot, std::move(positions)}}};
}

at::Tensor stacked(const std::vector<Eigen::VectorXd>& values) {
  at::Tensor tensor = at::empty({1, static_cast<std::int64_t>(values.size()), kDimension});
  for (std::size_t i = 0; i < values.size(); ++i)
    for (int j = 0; j < kDimension; ++j)
      tensor.data_ptr<float>()[i * kDimension + j] = static_cast<float>(values[i][j]);
  return tensor;
}

at::Tensor indices(const std::vector<std::int64_t>& values) {
  at::Tensor tensor = at::empty({1, static_cast<std::int64_t>(values.size())}, at::kLong);
  std::copy(values.begin(), values.end(), tensor.data_ptr<std::int64_t>());
  return tensor;
}

// How far the conditions and laws of the small model may be apart, whose numbers stay below 4: an
// encoder, a decoder and a head of two layers each.
const double kApart =
    testing::rounding({.layers = 6, .width = 12, .inner = 32, .positions = 20}, 4);

double difference(const Eigen::VectorXd& condition, const at::Tensor& z) {
  double largest = 0;
  for (Eigen::Index j = 0; j < z.numel(); ++j)
    largest = std::max(largest, std::abs(condition[j] - z[j].item<double>()));
  return largest;
}

}  // namespace

DOCTEST_TEST_CASE("conditions are the network's, in whatever order positions are asked") {
  const at::NoGradGuard no_grad;
  const SmallMar small;
  const auto model = make(small);
  DOCTEST_CHECK(model->facts().dimension == kDimension);
  DOCTEST_CHECK(model->facts().reverse_steps == 5);
  DOCTEST_CHECK(model->facts().vocabulary == 3);
  DOCTEST_CHECK(model->facts().view == View::bidirectional);
  for (const Token label : {1, 3}) {  // Label 3 stands for none.
    Canvas own = small_canvas(label);
    own.commit(7, 0, false, value(7));
    own.commit(2, 0, false, value(2));
    const auto sequence = model->open(own);
    const Answer answer = ask(*model, *sequence, at_root(View::bidirectional, {9, 1, 4}));
    const at::Tensor places = indices({1, 6});
    const at::Tensor z = small.net.decode(
        small.net.encode(stacked({value(2), value(7)}), places, at::full({1}, label, at::kLong)),
        places)[0];
    for (const int position : {9, 1, 4}) {
      DOCTEST_CHECK(answer.condition(kRoot, position).size() == 8);
      DOCTEST_CHECK(difference(answer.condition(kRoot, position), z[position - 1]) < kApart);
    }
    // The encoder has buffers and visible tokens; the decoder has buffers and all places.
    DOCTEST_CHECK(sequence->counts()[Kind::draft].positions == 2 + 2 + 2 + 9);
    DOCTEST_CHECK(sequence->counts()[Kind::draft].rows == 1);
  }
}

DOCTEST_TEST_CASE(
    "a drafted state is answered, to the last bit, as the committed one, and in a batch as alone") {
  for (const double guidance : {1.0, 3.0}) {
    const SmallMar small;
    const auto model = make(small, guidance);
    DOCTEST_CHECK(model->rows_are_independent());
    Canvas ahead = small_canvas(), behind = small_canvas();
    const auto drafting = model->open(ahead), committing = model->open(behind);
    Question question = at_root(View::bidirectional, {5});
    question.nodes = {{kRoot, 5, 0, value(5)}, {0, 3, 0, value(3)}, {kRoot, 8, 0, value(8)}};
    question.asks = {{kRoot, {5}}, {0, {3}}, {1, {9, 1}}, {2, {3}}};
    question.kind = Kind::verify;
    const Answer drafted = ask(*model, *drafting, question);
    DOCTEST_CHECK(drafting->counts()[Kind::verify].rows == (guidance == 1 ? 4 : 8));
    const auto committed = [&](std::vector<std::int32_t> positions) {
      return ask(*model, *committing, at_root(View::bidirectional, std::move(positions)));
    };
    DOCTEST_CHECK(committed({5}).condition(kRoot, 5) == drafted.condition(kRoot, 5));
    behind.commit(5, 0, false, value(5));
    DOCTEST_CHECK(committed({3}).condition(kRoot, 3) == drafted.condition(0, 3));
    behind.commit(3, 0, false, value(3));
    const Answer both = committed({1, 9});
    DOCTEST_CHECK(both.condition(kRoot, 1) == drafted.condition(1, 1));
    DOCTEST_CHECK(both.condition(kRoot, 9) == drafted.condition(1, 9));
    DOCTEST_CHECK(drafted.condition(2, 3) != drafted.condition(0, 3));

    Answer answers[2];
    const Question other = at_root(View::bidirectional, {7});
    Pending pending[2] = {{committing.get(), &other, &answers[0]},
                          {drafting.get(), &question, &answers[1]}};
    model->answer(pending);
    DOCTEST_CHECK(answers[1].condition(1, 9) == drafted.condition(1, 9));
    DOCTEST_CHECK(answers[0].condition(kRoot, 7) == committed({7}).condition(kRoot, 7));
  }
}

DOCTEST_TEST_CASE("conditions in eight and four bits are nearly the network's") {
  const SmallMar small;
  const auto exact = make(small);
  Canvas own = small_canvas(1);
  own.commit(7, 0, false, value(7));
  const Question question = at_root(View::bidirectional, {9, 1, 4});
  const Answer right = ask(*exact, *exact->open(own), question);
  for (const auto& [dtype, most] :
       {std::pair(ModelDtype::q8, 0.1), std::pair(ModelDtype::q4, 1.0)}) {
    const auto rounded = make(small, 1, GuidanceSchedule::linear, dtype);
    const Answer answer = ask(*rounded, *rounded->open(own), question);
    for (const int position : {9, 1, 4}) {
      const double changed =
          (answer.condition(kRoot, position) - right.condition(kRoot, position)).norm() /
          right.condition(kRoot, position).norm();
      DOCTEST_CHECK(changed > 1e-5);
      DOCTEST_CHECK(changed < most);
    }
  }
}

DOCTEST_TEST_CASE("the law of a reverse step is the head's and the schedule's") {
  const at::NoGradGuard no_grad;
  const SmallMar small;
  const DiffusionSchedule schedule("5");
  Eigen::VectorXd own(8), none(8);
  for (int j = 0; j < 8; ++j) own[j] = std::cos(j), none[j] = std::cos(2.0 * j + 1);
  const auto said = [&](const Eigen::VectorXd& z, const Eigen::VectorXd& state, int step) {
    at::Tensor condition = at::empty({1, 8});
    for (int j = 0; j < 8; ++j) condition.data_ptr<float>()[j] = static_cast<float>(z[j]);
    const at::Tensor t = at::full({1}, schedule.timesteps[step - 1], at::kLong);
    const at::Tensor out = small.net.head.forward(
        stacked({state})[0], small.net.head.time(t) + small.net.head.condition(condition))[0];
    Eigen::ArrayXd told(kDimension);
    for (int j = 0; j < kDimension; ++j) told[j] = out[j].item<double>();
    return told;
  };
  for (const double guidance : {1.0, 3.0}) {
    const auto model = make(small, guidance, GuidanceSchedule::constant);
    const Canvas empty = small_canvas();
    const auto sequence = model->open(empty);
    Question question{.kind = Kind::aux, .view = View::bidirectional, .nodes = {}, .asks = {}};
    for (const int step : {5, 3, 1}) {
      Eigen::VectorXd condition = own;
      if (guidance != 1) {
        condition.resize(17);
        condition << own, none, guidance;
      }
      question.reverse.push_back({condition, step, value(step)});
    }
    const Answer answer = ask(*model, *sequence, question);
    DOCTEST_REQUIRE(answer.laws.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      const Reverse& one = question.reverse[i];
      Eigen::ArrayXd told = said(own, one.state, one.step);
      if (guidance != 1)
        told =
            said(none, one.state, one.step) + guidance * (told - said(none, one.state, one.step));
      const Eigen::ArrayXd state = one.state.array();
      const Eigen::ArrayXd mean =
          schedule.mean(schedule.x0(Prediction::v, told, state, one.step - 1), state, one.step - 1);
      DOCTEST_CHECK((answer.laws[i].mean[0] - mean).abs().maxCoeff() < kApart);
      const double variance =
          one.step > 1 ? schedule.beta[one.step - 1] : std::exp(schedule.posterior_log_variance[1]);
      DOCTEST_CHECK((answer.laws[i].sigma[0] - std::sqrt(variance)).abs().maxCoeff() < 1e-12);
    }
    DOCTEST_CHECK(sequence->counts().nfe() == 0);
    // Shallow laws are those of what the head tells at the first state.
    Question shallow = question;
    shallow.shallow = true;
    const std::int64_t rows = sequence->counts()[Kind::aux].rows;
    const Answer guessed = ask(*model, *sequence, shallow);
    DOCTEST_CHECK(sequence->counts()[Kind::aux].rows == rows + (guidance == 1 ? 1 : 2));
    DOCTEST_REQUIRE(guessed.laws.size() == 3);
    const Reverse& first = question.reverse[0];
    Eigen::ArrayXd told = said(own, first.state, 5);
    if (guidance != 1)
      told = said(none, first.state, 5) + guidance * (told - said(none, first.state, 5));
    const Eigen::ArrayXd x0 = schedule.x0(Prediction::v, told, first.state.array(), 4);
    DOCTEST_CHECK((guessed.laws[0].mean[0] == answer.laws[0].mean[0]).all());
    for (std::size_t i = 1; i < 3; ++i) {
      const Reverse& one = question.reverse[i];
      const Eigen::ArrayXd mean = schedule.mean(x0, one.state.array(), one.step - 1);
      DOCTEST_CHECK((guessed.laws[i].mean[0] - mean).abs().maxCoeff() < kApart);
      DOCTEST_CHECK((guessed.laws[i].sigma[0] == answer.laws[i].sigma[0]).all());
    }
    // A row is what it is alone.
    Question last = question;
    last.reverse.erase(last.reverse.begin(), last.reverse.begin() + 2);
    DOCTEST_CHECK((ask(*model, *sequence, last).laws[0].mean[0] == answer.laws[2].mean[0]).all());
  }
}

namespace {

// The largest difference between a bundle's numbers and the model's answers, as a share of 1e-4
// relative to the tensor's largest value.
double compare_answers(const std::filesystem::path& folder) {
  const SafetensorsFile io((folder / "io.safetensors").string());
  const auto stored = [&](const std::string& name) { return read(io, name); };
  const auto vector = [](const at::Tensor& row) {
    Eigen::VectorXd made(row.numel());
    for (Eigen::Index j = 0; j < made.size(); ++j) made[j] = row[j].item<double>();
    return made;
  };
  MarOptions options;
  options.checkpoint = folder.string();
  const std::unique_ptr<Model> model(draftlab_make_mar(&options));
  model->load({.threads = 1});
  double largest = 0;
  const auto compare = [&](const Eigen::VectorXd& actual, const at::Tensor& expected,
                           double scale) {
    largest = std::max(largest, (actual - vector(expected)).cwiseAbs().maxCoeff() / scale / 1e-4);
  };
  const at::Tensor masked = stored("maskgit.mask"), tokens = stored("maskgit.tokens"),
                   labels = stored("maskgit.labels"), z = stored("maskgit.z");
  const auto length = static_cast<std::int32_t>(tokens.size(1));
  for (std::int64_t b = 0; b < labels.size(0); ++b) {
    Canvas own(length + 1, std::vector<std::pair<std::int32_t, Token>>{
                               {0, static_cast<Token>(labels[b].item<std::int64_t>())}});
    for (std::int32_t i = 0; i < length; ++i)
      if (masked[b][i].item<float>() == 0) own.commit(i + 1, 0, false, vector(tokens[b][i]));
    const auto sequence = model->open(own);
    const Answer answer =
        ask(*model, *sequence, at_root(View::bidirectional, own.masked_positions()));
    for (const std::int32_t position : own.masked_positions())
      compare(answer.condition(kRoot, position), z[b][position - 1], z.abs().max().item<double>());
    if (b == 0) continue;
    Question question{.kind = Kind::aux, .view = View::bidirectional, .nodes = {}, .asks = {}};
    const at::Tensor x = stored("diff.x_t"), c = stored("diff.c"), steps = stored("diff.t_spaced"),
                     mean = stored("p_mean_variance.mean"),
                     log_variance = stored("p_mean_variance.log_variance");
    for (std::int64_t i = 0; i < x.size(0); ++i)
      question.reverse.push_back(
          {vector(c[i]), static_cast<int>(steps[i].item<std::int64_t>()) + 1, vector(x[i])});
    const Answer laws = ask(*model, *sequence, question);
    for (std::int64_t i = 0; i < x.size(0); ++i) {
      compare(laws.laws[i].mean[0], mean[i], std::max(1.0, mean[i].abs().max().item<double>()));
      compare(2 * laws.laws[i].sigma[0].log().matrix(), log_variance[i],
              std::max(1.0, log_variance[i].abs().max().item<double>()));
    }
  }
  return largest;
}

}  // namespace

DOCTEST_TEST_CASE("parity: the model's conditions, and its laws with a learned variance") {
  for (const auto& [folder, name, family] : bundles_of({"mar"}, "the model mar")) {
    const double largest = compare_answers(folder);
    std::cout << "parity " << name << ": decoding rows " << largest
              << " of the tolerance of 0.0001\n";
    DOCTEST_INFO(name);
    DOCTEST_CHECK(largest <= 1);
  }
}

DOCTEST_TEST_CASE("guidance grows with what is known once the tokens asked together are") {
  const SmallMar small;
  Canvas own = small_canvas();
  own.commit(4, 0, false, value(4));
  const auto linear = make(small, 3), constant = make(small, 3, GuidanceSchedule::constant);
  const auto one = linear->open(own), two = constant->open(own);
  DOCTEST_CHECK(ask(*linear, *one, at_root(View::bidirectional, {1})).condition(kRoot, 1)[16] ==
                doctest::Approx(1 + 2 * 2.0 / 9));
  DOCTEST_CHECK(
      ask(*linear, *one, at_root(View::bidirectional, {1, 2, 3})).condition(kRoot, 1)[16] ==
      doctest::Approx(1 + 2 * 4.0 / 9));
  // It is not divided by 9.
  DOCTEST_CHECK(ask(*linear, *one, at_root(View::bidirectional, {1, 2, 3, 5, 6, 7, 8, 9}))
                    .condition(kRoot, 1)[16] == doctest::Approx(1 + 2 * 8.0 / 9));
  DOCTEST_CHECK(ask(*constant, *two, at_root(View::bidirectional, {1})).condition(kRoot, 1)[16] ==
                3);
  // Its second part is what no class gives.
  Canvas bare = small_canvas(3);
  bare.commit(4, 0, false, value(4));
  const auto plain = make(small);
  const auto three = plain->open(bare);
  DOCTEST_CHECK(
      ask(*linear, *one, at_root(View::bidirectional, {1})).condition(kRoot, 1).segment(8, 8) ==
      ask(*plain, *three, at_root(View::bidirectional, {1})).condition(kRoot, 1));
}

DOCTEST_TEST_CASE(
    "the causal variant: teacher forcing, drafted chains, other paths, and a cache that follows "
    "the canvas") {
  const at::NoGradGuard no_grad;
  const SmallMar small(true);
  for (const double guidance : {1.0, 2.0}) {
    const auto model = make(small, guidance);
    DOCTEST_CHECK(model->facts().view == View::causal);
    std::vector<Eigen::VectorXd> all;
    for (int i = 1; i <= kTokens; ++i) all.push_back(value(i));
    const at::Tensor z = small.net.causal(stacked(all), at::full({1}, 1, at::kLong))[0],
                     none = small.net.causal(stacked(all), at::full({1}, 3, at::kLong))[0];
    Canvas own = small_canvas();
    const auto sequence = model->open(own);
    // A chain of three, and another token beside the second.
    Question question{.kind = Kind::verify, .view = View::causal, .nodes = {}, .asks = {}};
    question.nodes = {{kRoot, 1, 0, value(1)},
                      {0, 2, 0, value(20)},
                      {0, 2, 0, value(2)},
                      {2, 3, 0, value(3)},
                      {1, 3, 0, value(30)}};
    question.asks = {{kRoot, {1}}, {0, {2}}, {2, {3}}, {3, {4}}, {1, {3}}, {4, {4}}};
    const Answer answer = ask(*model, *sequence, question);
    DOCTEST_CHECK(sequence->counts()[Kind::verify].positions == (2 + 5) * (guidance == 1 ? 1 : 2));
    for (const auto& [node, position] : {std::pair{kRoot, 1}, {0, 2}, {2, 3}, {3, 4}}) {
      DOCTEST_CHECK(difference(answer.condition(node, position), z[position - 1]) < kApart);
      if (guidance != 1)
        DOCTEST_CHECK(difference(answer.condition(node, position).segment(8, 8),
                                 none[position - 1]) < kApart);
    }
    all[1] = value(20);
    all[2] = value(30);
    DOCTEST_CHECK(difference(answer.condition(4, 4),
                             small.net.causal(stacked(all), at::full({1}, 1, at::kLong))[0][3]) <
                  kApart);
    // Committing the path that stood beside the cached one; then everything, and each answer is
    // that of a fresh sequence.
    for (const auto& [position, held] :
         {std::pair{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6}, {7, 7}, {8, 8}}) {
      own.commit(position, 0, false, value(held));
      const auto fresh = model->open(own);
      const Answer kept = ask(*model, *sequence, at_root(View::causal, {position + 1})),
                   anew = ask(*model, *fresh, at_root(View::causal, {position + 1}));
      DOCTEST_CHECK(kept.condition(kRoot, position + 1) == anew.condition(kRoot, position + 1));
      DOCTEST_CHECK(difference(kept.condition(kRoot, position + 1), z[position]) < kApart);
    }
    const auto before = sequence->counts()[Kind::draft].positions;
    ask(*model, *sequence, at_root(View::causal, {9}));
    DOCTEST_CHECK(sequence->counts()[Kind::draft].positions - before ==
                  (guidance == 1 ? 1 : 2));  // It counts the row that answers, alone.
  }
}

DOCTEST_TEST_CASE("what mar cannot do is refused in one sentence") {
  const SmallMar small;
  const auto model = make(small);
  const Canvas own = small_canvas(), unknown = small_canvas(4), masked(kTokens + 1, {}),
               short_one(kTokens, std::vector<std::pair<std::int32_t, Token>>{{0, 1}});
  const Canvas ids(kTokens + 1, std::vector<std::pair<std::int32_t, Token>>{{0, 1}, {3, 0}});
  const auto opened = [&](const Canvas& canvas) {
    return complaint<Error>([&] { model->open(canvas); });
  };
  DOCTEST_CHECK(opened(own) == "nothing");
  DOCTEST_CHECK(opened(unknown).find("its class, 0 to 2, or 3 for none; it holds 4") !=
                std::string::npos);
  DOCTEST_CHECK(opened(masked).find("its class, 0 to 2, or 3 for none") != std::string::npos);
  DOCTEST_CHECK(opened(short_one).find("a canvas of 9 positions was opened") != std::string::npos);
  DOCTEST_CHECK(opened(ids).find("position 3 of the prompt holds no vector of 4 numbers") !=
                std::string::npos);
  const auto sequence = model->open(own);
  DOCTEST_CHECK(complaint<Error>([&] {
                  ask(*model, *sequence, at_root(View::causal, {1}));
                }).find("a bidirectional mar was asked causally") != std::string::npos);
  DOCTEST_CHECK(complaint<Error>([&] {
                  ask(*model, *sequence, at_root(View::bidirectional, {0}));
                }).find("position 0 was asked") != std::string::npos);
  Question question{.kind = Kind::aux, .view = View::bidirectional, .nodes = {}, .asks = {}};
  question.reverse = {{Eigen::VectorXd::Zero(8), 6, value(1)}};
  DOCTEST_CHECK(complaint<Error>([&] {
                  ask(*model, *sequence, question);
                }).find("reverse step 6") != std::string::npos);
  question.reverse = {{Eigen::VectorXd::Zero(17), 1, value(1)}};
  DOCTEST_CHECK(complaint<Error>([&] {
                  ask(*model, *sequence, question);
                }).find("a condition of 17 numbers") != std::string::npos);

  MarOptions options;
  options.checkpoint = small.path.string();
  options.variance = ReverseVariance::learned;
  DOCTEST_CHECK(complaint<Error>([&] {
                  std::unique_ptr<Model>(draftlab_make_mar(&options))->load({.threads = 1});
                }).find("tells none") != std::string::npos);
  options.variance = ReverseVariance::checkpoint;
  options.steps = "many";
  DOCTEST_CHECK(complaint<Error>([&] {
                  std::unique_ptr<Model>(draftlab_make_mar(&options))->load({.threads = 1});
                }).find("'many' is no spacing") != std::string::npos);

  const SmallMar causal(true);
  const auto raster = make(causal);
  const auto line = raster->open(own);
  DOCTEST_CHECK(complaint<Error>([&] {
                  ask(*raster, *line, at_root(View::bidirectional, {1}));
                }).find("a causal mar was asked bidirectionally") != std::string::npos);
  DOCTEST_CHECK(complaint<Error>([&] {
                  ask(*raster, *line, at_root(View::causal, {2}));
                }).find("which tells position 1 alone") != std::string::npos);
}

}  // namespace draftlab
