// Trainer `autoregressive`: its loss by hand and against the plain forward, gradients included;
// what it learns and what it leaves.
#include <ATen/ATen.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/config/plugin.h"
#include "core/trace/curves.h"
#include "plugins/models/autoregressive/causal_loss_torch.h"
#include "plugins/models/autoregressive/feature_loss_torch.h"
#include "plugins/models/autoregressive/hydra_loss_torch.h"
#include "plugins/models/autoregressive/train_autoregressive.h"
#include "plugins/models/nn/checkpoint/safetensors.h"
#include "plugins/models/nn/training/train_decoder_torch.h"
#include "tests/plugins/models/rounding.h"
#include "tests/scratch.h"

extern "C" void draftlab_train_autoregressive(const draftlab::TrainAutoregressiveJob& job,
                                              const draftlab::TrainContext& context);

namespace draftlab {
namespace {

using testing::Passed;
using testing::rounding;

TransformerConfig small(bool encoder, bool positions = false) {
  TransformerConfig config;
  config.model_type = "qwen3";
  config.vocab_size = 11;
  config.hidden_size = 12;
  config.num_hidden_layers = 2;
  config.num_encoder_layers = encoder ? 2 : 0;
  config.num_attention_heads = 4;
  config.num_key_value_heads = 2;
  config.head_dim = 6;
  config.intermediate_size = 20;
  config.tie_word_embeddings = true;
  config.position_vectors = positions;
  config.max_position_embeddings = 8;
  return config;
}

std::vector<std::int64_t> listed(const at::Tensor& tensor) {
  return {tensor.data_ptr<std::int64_t>(), tensor.data_ptr<std::int64_t>() + tensor.numel()};
}

// Mean loss of head `head`, an example at a time, by the plain forward.
at::Tensor by_the_book(const Transformer& net, const PredictionHeads& heads,
                       const std::vector<WorkedExample>& examples, int head) {
  at::Tensor sum = at::zeros({});
  std::int64_t count = 0;
  for (const WorkedExample& example : examples) {
    const std::vector<std::int64_t> tokens(example.tokens.begin(), example.tokens.end());
    const bool encoder = !net.encoder.empty();
    const std::int64_t start = encoder ? example.prompt - 1 : 0;
    const at::Tensor all = at::tensor(tokens, at::kLong).unsqueeze(0),
                     ids = all.narrow(1, start, all.size(1) - start);
    const std::int64_t length = ids.size(1);
    at::Tensor hidden =
        transformer_hidden(net, {ids, at::arange(length, at::kLong).unsqueeze(0),
                                 at::ones({length, length}, at::kBool).tril(),
                                 encoder ? all.narrow(1, 0, example.prompt) : at::Tensor()})
            .back()[0];
    if (heads.count > 0) hidden = heads.states(hidden, head, 1, false).squeeze(-2);
    const at::Tensor log_p = at::log_softmax(at::linear(hidden, net.lm_head), -1);
    for (std::int64_t target = example.prompt + head;
         target < static_cast<std::int64_t>(tokens.size()); ++target, ++count)
      sum = sum - log_p[target - 1 - head - start][tokens[target]];
  }
  return sum / static_cast<double>(count);
}

Passed through(const TransformerConfig& config, double positions) {
  return {.layers = static_cast<double>(config.num_hidden_layers + config.num_encoder_layers),
          .width = static_cast<double>(config.hidden_size),
          .inner = static_cast<double>(config.intermediate_size),
          .positions = positions};
}

// The answer to two letters is the second, then the first, then the second again. 0 is the mask, 1
// begins, 2 ends.
TrainAutoregressiveJob job(std::int64_t steps, std::int64_t encoder_layers = 0) {
  TrainAutoregressiveJob job;
  job.vocabulary = 15;
  job.mask = 0;
  job.end = 2;
  for (Token a = 3; a < 15; a++)
    for (Token b = 3; b < 15; b++)
      ((a + 2 * b) % 12 == 0 ? job.held_out : job.examples).push_back({{1, a, b, b, a, b, 2}, 3});
  TrainAutoregressiveOptions& o = job.options;
  o.layers = 2, o.encoder_layers = encoder_layers, o.width = 16, o.heads = 4, o.groups = 2,
  o.head = 8, o.inner = 32, o.filter = 8;
  o.batch = 16, o.accumulate = 2, o.steps = steps, o.warmup = 0, o.floor = 0.02, o.rate = 1e-2,
  o.log_every = 1, o.validate_every = 3, o.validate_examples = 12;
  return job;
}

void train(const TrainAutoregressiveJob& job, const std::filesystem::path& out,
           bool resume = false) {
  const Registries registries;
  Diagnostics diagnostics;
  const Config config = Config::parse("", "test.ini", diagnostics);
  Machine machine;
  machine.threads = 1;
  std::filesystem::create_directories(out);
  draftlab_train_autoregressive(job, {registries, config, machine, 5, out.string(), resume});
}

std::string digest(const std::filesystem::path& file) {
  return SafetensorsFile(file.string()).digest();
}

}  // namespace

DOCTEST_TEST_CASE("rows and targets of two examples, by hand") {
  // Prompts of 2 and 3 tokens; answers 7 8 9 and 5.
  const std::vector<WorkedExample> examples{{{1, 4, 7, 8, 9}, 2}, {{1, 2, 3, 5}, 3}};
  const CausalBatch plain = causal_batch({&examples[0], &examples[1]}, false);
  DOCTEST_CHECK(plain.skipped == 1);  // The row of the first canvas's token 4 tells 7.
  DOCTEST_CHECK(listed(plain.rows.ids) ==
                std::vector<std::int64_t>{1, 4, 7, 8, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0});
  const std::int64_t kept = 7;
  DOCTEST_CHECK(listed(head_targets(plain, 0).rows) ==
                std::vector<std::int64_t>{0, 1, 2, kept + 1});
  DOCTEST_CHECK(listed(head_targets(plain, 0).tokens) == std::vector<std::int64_t>{7, 8, 9, 5});
  DOCTEST_CHECK(listed(head_targets(plain, 2).rows) ==
                std::vector<std::int64_t>{0});  // The third token after the prompt.
  DOCTEST_CHECK(listed(head_targets(plain, 2).tokens) == std::vector<std::int64_t>{9});
  DOCTEST_CHECK(head_targets(plain, 3).rows.numel() == 0);

  const CausalBatch encoded = causal_batch({&examples[0], &examples[1]}, true);
  DOCTEST_CHECK(listed(encoded.rows.ids) ==
                std::vector<std::int64_t>{4, 7, 8, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0});
  DOCTEST_CHECK(listed(encoded.source.ids) ==
                std::vector<std::int64_t>{1, 4, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0});
  DOCTEST_CHECK(encoded.source_seen[0][0][0].item<int>() == 2);
  DOCTEST_CHECK(encoded.source_seen[1][0][0].item<int>() == 3);
  DOCTEST_CHECK(listed(head_targets(encoded, 1).rows) == std::vector<std::int64_t>{0, 1});
  DOCTEST_CHECK(listed(head_targets(encoded, 1).tokens) == std::vector<std::int64_t>{8, 9});
}

DOCTEST_TEST_CASE(
    "loss and gradient are those of the plain forward, with an encoder, with learned positions and "
    "without") {
  const std::vector<WorkedExample> examples{{{1, 4, 7, 8, 9}, 2}, {{1, 2, 3, 5, 6, 10}, 3}};
  for (const auto& [encoder, positions] :
       {std::pair(false, false), std::pair(true, false), std::pair(true, true)}) {
    for (const int count : {0, 2}) {
      DOCTEST_INFO("encoder " << encoder << ", positions " << positions << ", heads " << count);
      Transformer net = Transformer::random(small(encoder, positions), 3, 0.4);
      PredictionHeads heads;
      if (count > 0) {
        heads = PredictionHeads::random({count, 3, 12}, 4, 0.4);
        heads.project.copy_(PredictionHeads::random({count, 12, count * 3}, 6, 0.4).hidden);
      }
      std::vector<std::pair<std::string, at::Tensor>> all = net.named_parameters();
      for (const auto& one : heads.named_parameters()) all.push_back(one);
      for (auto& [name, tensor] : all) tensor.set_requires_grad(true);
      const CausalBatch batch = causal_batch({&examples[0], &examples[1]}, encoder);
      const int head = count > 0 ? 1 : 0;
      const HeadTargets targets = head_targets(batch, head);
      const at::Tensor own =
          mean_nll(heads.logits(net, causal_hidden(net, batch, false).index_select(0, targets.rows),
                                head, false),
                   targets);
      own.backward();
      std::vector<at::Tensor> gradients;
      for (auto& [name, tensor] : all) {
        gradients.push_back(tensor.grad().defined() ? tensor.grad().clone()
                                                    : at::zeros_like(tensor));
        tensor.mutable_grad() = at::Tensor();
      }
      const at::Tensor book = by_the_book(net, heads, examples, head);
      book.backward();
      Passed passed = through(net.config, 6);
      passed.passes = 2, passed.rows = 11;
      DOCTEST_CHECK(own.item<double>() ==
                    doctest::Approx(book.item<double>()).epsilon(rounding(passed)));
      double largest = 1;
      for (const auto& [name, tensor] : all)
        largest = std::max(largest, tensor.grad().abs().max().item<double>());
      for (std::size_t i = 0; i < all.size(); ++i) {
        DOCTEST_INFO(all[i].first);
        const at::Tensor expected = all[i].second.grad();
        DOCTEST_REQUIRE(expected.defined());
        DOCTEST_CHECK((gradients[i] - expected).abs().max().item<double>() <
                      rounding(passed, largest));
      }
    }
  }
}

DOCTEST_TEST_CASE("exits weigh, and layers are left out, as LayerSkip's program has it, by hand") {
  const auto near = [](const std::vector<double>& given, const std::vector<double>& expected) {
    DOCTEST_REQUIRE(given.size() == expected.size());
    for (std::size_t i = 0; i < given.size(); ++i)
      DOCTEST_CHECK(given[i] == doctest::Approx(expected[i]));
  };
  near(exit_weights(3, 0.5), {0.5 / 8, 1.5 / 8, 6.0 / 8});
  near(exit_weights(3, 0), {0, 0, 1});
  near(layer_dropout_rates(3, 0.2), {0, 0.2 * (std::sqrt(2.0) - 1), 0.2});
  near(layer_dropout_rates(1, 0.2), {0.2});
}

DOCTEST_TEST_CASE("an exit's states are those of the plain forward, cut off after its layer") {
  const std::vector<WorkedExample> examples{{{1, 4, 7, 8, 9}, 2}, {{1, 2, 3, 5, 6, 10}, 3}};
  for (const bool encoder : {false, true}) {
    DOCTEST_INFO("encoder " << encoder);
    const Transformer net = Transformer::random(small(encoder), 3, 0.4);
    Transformer shallow = net;
    shallow.layers.pop_back();
    const CausalBatch batch = causal_batch({&examples[0], &examples[1]}, encoder);
    const auto apart = [](const at::Tensor& a, const at::Tensor& b) {
      return (a - b).abs().max().item<double>();
    };
    LayerPass pass;
    const at::Tensor deep = causal_hidden(net, batch, false, &pass),
                     cut = causal_hidden(shallow, batch, false);
    DOCTEST_REQUIRE(pass.exits.size() == 1);
    const double most = rounding(through(net.config, 6), deep.abs().max().item<double>());
    DOCTEST_CHECK(apart(pass.exits[0], cut) < most);
    DOCTEST_CHECK(apart(deep, causal_hidden(net, batch, false)) == 0);
    DOCTEST_CHECK(apart(deep, cut) > 0.01);
    // The first canvas leaves out the last layer, the second goes through both.
    LayerPass left{.kept = {at::ones({2, 1, 1}), at::ones({2, 1, 1})}, .exits = {}};
    left.kept[1].data_ptr<float>()[0] = 0;
    const at::Tensor mixed = causal_hidden(net, batch, false, &left);
    const std::int64_t rows = mixed.size(0) / 2;
    DOCTEST_CHECK(apart(mixed.narrow(0, 0, rows), cut.narrow(0, 0, rows)) < most);
    DOCTEST_CHECK(apart(mixed.narrow(0, rows, rows), deep.narrow(0, rows, rows)) < most);
  }
}

DOCTEST_TEST_CASE("a training with early exits teaches the first layer, and one without does not") {
  const testing::Folder folder;
  const auto loss_after_one_layer = [&](const char* name, double early_exit) {
    TrainAutoregressiveJob some = job(60, 1);
    some.options.early_exit = early_exit;
    some.options.layer_dropout = early_exit > 0 ? 0.1 : 0;
    train(some, folder.path / name);
    Transformer net = Transformer::load((folder.path / name).string());
    net.layers.pop_back();
    std::vector<const WorkedExample*> held_out;
    for (const WorkedExample& example : some.held_out) held_out.push_back(&example);
    const CausalBatch batch = causal_batch(held_out, true);
    const HeadTargets targets = head_targets(batch, 0);
    return mean_nll(
               PredictionHeads().logits(
                   net, causal_hidden(net, batch, false).index_select(0, targets.rows), 0, false),
               targets)
        .item<double>();
  };
  const double with = loss_after_one_layer("exits", 1), without = loss_after_one_layer("plain", 0);
  DOCTEST_INFO(with << " with early exits, " << without << " without");
  DOCTEST_CHECK(with < 0.9 * without);
}

DOCTEST_TEST_CASE("a resumed training of answers is the uninterrupted one") {
  const testing::Folder folder;
  const auto steps = [](std::int64_t count) {
    TrainAutoregressiveJob some = job(count, 1);
    some.options.floor = 1;  // One rate, whatever the number of steps.
    return some;
  };
  train(steps(6), folder.path / "whole");
  train(steps(3), folder.path / "parts");
  train(steps(6), folder.path / "parts", true);
  DOCTEST_CHECK(digest(folder.path / "whole/model.safetensors") ==
                digest(folder.path / "parts/model.safetensors"));
  DOCTEST_CHECK(read_curves((folder.path / "parts/curves.h5").string()).validations.size() == 2);
}

DOCTEST_TEST_CASE("learned positions are trained, and bound the canvases") {
  const testing::Folder folder;
  TrainAutoregressiveJob some = job(3, 1);
  some.options.positions = 8;
  train(some, folder.path);
  const Transformer net = Transformer::load(folder.path.string());
  DOCTEST_CHECK(net.config.position_vectors);
  DOCTEST_CHECK(net.embed_positions.sizes().vec() == std::vector<std::int64_t>{8, 16});
  const auto moved =
      (net.embed_positions - Transformer::random(net.config, 5, kSpread).embed_positions)
          .abs()
          .amax(1);
  // The decoder begins with the source's last token: of seven tokens it reads four.
  // The others only decay.
  DOCTEST_CHECK(moved.narrow(0, 0, 4).min().item<double>() >
                100 * moved.narrow(0, 4, 4).max().item<double>());

  const auto complaint = [&] {
    try {
      train(some, folder.path / "refused");
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  some.options.start = folder.path.string();
  some.options.freeze = true;
  some.options.hydra_heads = 2;
  DOCTEST_CHECK(complaint().find("has learned positions") != std::string::npos);
  some.options.hydra_heads = 0;
  some.held_out.push_back({{1, 3, 4, 4, 3, 4, 3, 4, 2}, 3});
  DOCTEST_CHECK(complaint() == "a prompt and its answer have 9 tokens, the model has 8 positions");
}

DOCTEST_TEST_CASE(
    "training learns to answer; heads learn beside a frozen base, and with one that is tuned") {
  const testing::Folder folder;
  for (const std::int64_t encoder_layers : {0, 1}) {
    DOCTEST_INFO("encoder layers " << encoder_layers);
    const std::filesystem::path at = folder.path / std::to_string(encoder_layers),
                                base = at / "base";
    TrainAutoregressiveJob learning = job(400, encoder_layers);
    learning.options.validate_every = 400;
    train(learning, base);
    const Curves curves = read_curves((base / "curves.h5").string());
    DOCTEST_REQUIRE(curves.validations.size() == 1);
    DOCTEST_CHECK(curves.steps.front().loss > 2.4);  // Ln 15 = 2.71.
    // Of four tokens all but the first letter stand before the decoder: who does not see the source
    // loses ln 12 / 4 = 0.62.
    DOCTEST_CHECK(curves.steps.back().loss < 0.5);
    if (encoder_layers == 0) {
      DOCTEST_CHECK(curves.validations[0].loss < 0.1);
      DOCTEST_CHECK(curves.validations[0].accuracy > 0.8);  // That is a share of twelve.
    }
    DOCTEST_CHECK_FALSE(std::filesystem::exists(base / "heads.safetensors"));

    const std::string before = digest(base / "model.safetensors");
    TrainAutoregressiveJob ahead = job(300, encoder_layers);
    ahead.options.start = base.string();
    ahead.options.prediction_heads = 3;
    ahead.options.freeze = true;
    ahead.options.validate_every = 300;
    train(ahead, at / "frozen");
    DOCTEST_CHECK(digest(base / "model.safetensors") == before);
    DOCTEST_CHECK_FALSE(std::filesystem::exists(at / "frozen/model.safetensors"));
    DOCTEST_CHECK(PredictionHeads::load((at / "frozen").string(), 16, before).count == 3);
    const Curves frozen = read_curves((at / "frozen/curves.h5").string());
    DOCTEST_CHECK(frozen.steps.back().loss < frozen.steps.front().loss);

    ahead.options.first_head = FirstHead::base;
    train(ahead, at / "own");
    const PredictionHeads own = PredictionHeads::load((at / "own").string(), 16, before);
    DOCTEST_CHECK(own.project.narrow(0, 0, 16).abs().max().item<double>() == 0);
    DOCTEST_CHECK(own.project_bias.narrow(0, 0, 16).abs().max().item<double>() == 0);
    DOCTEST_CHECK(own.project.narrow(0, 16, 16).abs().max().item<double>() > 0);

    ahead.options.first_head = FirstHead::trained;
    ahead.options.freeze = false;
    ahead.options.head_loss = HeadLoss::mean;
    train(ahead, at / "tuned");
    DOCTEST_CHECK(
        PredictionHeads::load((at / "tuned").string(), 16, digest(at / "tuned/model.safetensors"))
            .count == 3);
    const Curves tuned = read_curves((at / "tuned/curves.h5").string());
    DOCTEST_CHECK(tuned.validations[0].loss < frozen.validations[0].loss);
  }
}

DOCTEST_TEST_CASE("head 1 learns more of a larger share of the minibatches, the others less") {
  const testing::Folder folder;
  const auto validated = [&](double share) {
    TrainAutoregressiveJob learning = job(60);
    learning.options.prediction_heads = 3;
    learning.options.first_head_share = share;
    learning.options.validate_every = 60;
    const std::filesystem::path out = folder.path / std::to_string(share);
    train(learning, out);
    return read_curves((out / "curves.h5").string()).validations.back();
  };
  // The mean loss of heads 2 and 3.
  const auto others = [](const ValidationRow& row) {
    return (3 * row.loss - row.loss_sequential) / 2;
  };
  const ValidationRow rarely = validated(0.05), evenly = validated(0), mostly = validated(0.9);
  DOCTEST_CHECK(mostly.loss_sequential < evenly.loss_sequential - 0.1);
  DOCTEST_CHECK(evenly.loss_sequential < rarely.loss_sequential - 0.1);
  DOCTEST_CHECK(others(mostly) > others(evenly) + 0.1);
}

DOCTEST_TEST_CASE("a feature head learns beside a frozen base what the base will say") {
  const testing::Folder folder;
  for (const FeatureKind kind :
       {FeatureKind::eagle, FeatureKind::mtp, FeatureKind::eagle3, FeatureKind::dflash}) {
    const std::int64_t encoder_layers = kind != FeatureKind::eagle;
    DOCTEST_INFO(word(kind));
    const std::filesystem::path base = folder.path / std::to_string(encoder_layers),
                                beside = folder.path / "head";
    train(job(200, encoder_layers), base);
    const std::string before = digest(base / "model.safetensors");
    TrainAutoregressiveJob learning = job(150, encoder_layers);
    learning.options.start = base.string();
    learning.options.freeze = true;
    learning.options.feature_head = kind;
    if (kind == FeatureKind::eagle3 || kind == FeatureKind::dflash)
      learning.feature_taps = {0, 1, 2};
    if (kind == FeatureKind::eagle3) learning.options.draft_tokens = 13;
    learning.options.feature_passes = 2;
    learning.options.validate_every = 75;
    train(learning, beside);
    DOCTEST_CHECK(digest(base / "model.safetensors") == before);
    DOCTEST_CHECK_FALSE(std::filesystem::exists(beside / "model.safetensors"));
    DOCTEST_CHECK_FALSE(std::filesystem::exists(beside / "heads.safetensors"));
    const Curves curves = read_curves((beside / "curves.h5").string());
    DOCTEST_REQUIRE(curves.validations.size() == 2);
    DOCTEST_CHECK(curves.steps.back().loss < 0.7 * curves.steps.front().loss);
    // The overlap of the laws.
    DOCTEST_CHECK(curves.validations[1].accuracy > (learning.feature_taps.empty() ? 0.7 : 0.5));

    // The stored head is the one that was validated last.
    const Transformer target = Transformer::load(base.string());
    const FeatureHead head = FeatureHead::load(beside.string(), target.config, before);
    DOCTEST_CHECK(head.shape.kind == kind);
    const bool block = kind == FeatureKind::dflash;
    DOCTEST_CHECK(head.shape.block == (block ? 3 : 0));
    DOCTEST_CHECK(head.shape.layers == (block ? 2 : 1));
    DOCTEST_CHECK(head.shape.taps == learning.feature_taps);
    // An answer has every token but the mask and the one that begins a prompt.
    const std::vector<Token> answered{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    DOCTEST_CHECK(head.shape.tokens ==
                  (kind == FeatureKind::eagle3 ? answered : std::vector<Token>{}));
    std::vector<const WorkedExample*> held_out;
    for (const WorkedExample& example : learning.held_out) held_out.push_back(&example);
    const at::NoGradGuard no_grad;
    CausalBatch batch = causal_batch(held_out, encoder_layers > 0);
    const TargetReading reading = read_target(target, batch, false);
    const std::vector<FeatureLoss> losses =
        block ? block_losses(head, batch, reading, block_anchors(batch, 6, nullptr))
              : feature_losses(head, batch, reading, 1);
    DOCTEST_CHECK(losses[0].overlap == doctest::Approx(curves.validations[1].accuracy));
    std::filesystem::remove_all(beside);
  }
}

DOCTEST_TEST_CASE("Hydra's heads learn beside a frozen base what the base will say") {
  const testing::Folder folder;
  for (const HeadLoss losses : {HeadLoss::one, HeadLoss::mean}) {
    DOCTEST_INFO("losses " << word(losses));
    const std::int64_t encoder_layers = losses == HeadLoss::mean ? 1 : 0;
    const std::filesystem::path base = folder.path / std::to_string(encoder_layers),
                                beside = folder.path / "head";
    train(job(200, encoder_layers), base);
    const std::string before = digest(base / "model.safetensors");
    TrainAutoregressiveJob learning = job(150, encoder_layers);
    learning.options.start = base.string();
    learning.options.freeze = true;
    learning.options.hydra_heads = 3;
    learning.options.filter = 16;
    learning.options.head_loss = losses;
    learning.options.validate_every = 75;
    train(learning, beside);
    DOCTEST_CHECK(digest(base / "model.safetensors") == before);
    DOCTEST_CHECK_FALSE(std::filesystem::exists(beside / "model.safetensors"));
    const Curves curves = read_curves((beside / "curves.h5").string());
    DOCTEST_REQUIRE(curves.validations.size() == 2);
    // The stored heads are those that were validated last, and all of them have learnt.
    const Transformer target = Transformer::load(base.string());
    const HydraHeads heads = HydraHeads::load(beside.string(), target.config.hidden_size, before);
    DOCTEST_CHECK(heads.count() == 3);
    std::vector<const WorkedExample*> held_out;
    for (const WorkedExample& example : learning.held_out) held_out.push_back(&example);
    const at::NoGradGuard no_grad;
    CausalBatch batch = causal_batch(held_out, encoder_layers > 0);
    const TargetReading reading = read_target(target, batch, false);
    const HydraHeads fresh = HydraHeads::random({3, 16, target.config.hidden_size}, 1, 0.05);
    for (int head = 0; head < 3; ++head) {
      const HydraLoss learnt = hydra_loss(heads, batch, reading, head),
                      began = hydra_loss(fresh, batch, reading, head);
      DOCTEST_CHECK(learnt.tokens.item<double>() < 0.8 * began.tokens.item<double>());
      if (head == 0)
        DOCTEST_CHECK(learnt.overlap == doctest::Approx(curves.validations[1].accuracy));
    }
    std::filesystem::remove_all(beside);
  }
}

}  // namespace draftlab
