// The loop of the trainer `masked-diffusion`: its loss against one worked by hand, and that it
// learns and resumes.
#include "plugins/models/masked_diffusion/train_masked_diffusion.h"

#include <ATen/ATen.h>
#include <unistd.h>

#include <filesystem>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/config/plugin.h"
#include "core/trace/curves.h"
#include "plugins/models/nn/checkpoint/safetensors.h"
#include "plugins/models/nn/training/train_decoder_torch.h"
#include "plugins/models/nn/training/training_torch.h"
#include "tests/plugins/models/rounding.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

constexpr std::uint64_t kSeed = 5;

// The answer to two letters is the second, then the first, then the second again. 0 is the mask, 1
// begins, 2 ends.
TrainMaskedDiffusionJob masked_job(std::int64_t steps) {
  TrainMaskedDiffusionJob job;
  job.vocabulary = 8;
  job.mask = 0;
  job.end = 2;
  HeldOut held_out{"swap", {}, {}};
  for (Token a = 3; a < 8; a++)
    for (Token b = 3; b < 8; b++)
      ((a + 2 * b) % 5 == 0 ? held_out.examples : job.examples)
          .push_back({{1, a, b, b, a, b, 2}, 3});
  job.held_out.push_back(held_out);
  TrainMaskedDiffusionOptions& o = job.options;
  o.layers = 2, o.width = 16, o.heads = 4, o.groups = 2, o.head = 8, o.inner = 32;
  o.answer_tokens = 6, o.block_size = 2;
  o.batch = 8, o.accumulate = 2, o.steps = steps, o.warmup = 0, o.floor = 1, o.rate = 1e-2,
  o.log_every = 1, o.validate_every = 3;
  return job;
}

Curves train(const TrainMaskedDiffusionJob& job, const std::filesystem::path& out, bool resume) {
  const Registries registries;
  Diagnostics diagnostics;
  const Config config = Config::parse("", "test.ini", diagnostics);
  Machine machine;
  machine.threads = 1;
  std::filesystem::create_directories(out);
  draftlab_train_masked_diffusion(job, {registries, config, machine, kSeed, out.string(), resume});
  return read_curves((out / "curves.h5").string());
}

}  // namespace

DOCTEST_TEST_CASE("canvases of two lengths as one batch: every row sees its own canvas whole") {
  NoisyCanvas one{{1, 2, 3}, {0, 1, 1}, 1, {1, 2, 0}},
      two{{4, 5, 6, 7}, {0, 1, 0, 1}, 1, {1, 3, 1, 4}};
  const NoisyBatch batch = whole_batch({one, two}, 0, false);
  DOCTEST_CHECK(batch.clean.numel() == 0);
  DOCTEST_CHECK(batch.noisy.equal(at::tensor({1, 0, 0, 0, 4, 0, 6, 0}, at::kLong).view({2, 4})));
  // It has weight 0 and is not scored.
  DOCTEST_CHECK(batch.scored.equal(at::tensor({1, 5, 7}, at::kLong)));
  DOCTEST_CHECK(batch.target.equal(at::tensor({2, 5, 7}, at::kLong)));
  DOCTEST_CHECK(batch.weight.equal(at::tensor({2, 3, 4}).to(at::kFloat)));
  DOCTEST_CHECK(whole_batch({one, two}, 0, true).scored.equal(at::tensor({0, 4, 6}, at::kLong)));
  TransformerConfig config;
  config.vocab_size = 8;
  config.hidden_size = 12;
  config.num_hidden_layers = 2;
  config.num_attention_heads = config.num_key_value_heads = 2;
  config.head_dim = 6;
  config.intermediate_size = 20;
  const Transformer net = Transformer::random(config, 3, 0.3);
  const at::Tensor rows = noisy_hidden(net, batch, false);
  const auto whole = [&](std::vector<std::int64_t> ids) {
    const auto n = static_cast<std::int64_t>(ids.size());
    return transformer_hidden(net,
                              {at::from_blob(ids.data(), {1, n}, at::kLong).clone(),
                               at::arange(n, at::kLong).view({1, n}), at::ones({n, n}, at::kBool)})
        .back()[0];
  };
  const double most = testing::rounding({.layers = 2, .width = 12, .inner = 20, .positions = 4},
                                        rows.abs().max().item<double>());
  DOCTEST_CHECK((rows[0].narrow(0, 0, 3) - whole({1, 0, 0})).abs().max().item<double>() < most);
  DOCTEST_CHECK((rows[1] - whole({4, 0, 6, 0})).abs().max().item<double>() < most);
}

DOCTEST_TEST_CASE(
    "the loss of a step is the bound: each answer masked at one rate t, what is masked weighed by "
    "1/t, by position") {
  for (const double semi_share : {0.0, 1.0}) {
    DOCTEST_INFO("semi-autoregressive: " << semi_share);
    const testing::Folder folder;
    TrainMaskedDiffusionJob one = masked_job(1);
    one.options.semi_share = semi_share;
    const Curves curves = train(one, folder.path / "run", false);
    DOCTEST_REQUIRE(curves.steps.size() == 1);

    const at::NoGradGuard guard;
    const Transformer net = decoder_network(one.options, one, 0, kSeed);
    double expected = 0;
    for (std::int64_t canvas = 0; canvas < 16; canvas++) {
      const Uniforms uniform = uniforms(kSeed, kTrainingStream, 0, canvas);
      const WorkedExample& example = one.examples[static_cast<std::size_t>(uniform() * 20)];
      std::vector<std::int64_t> ids(example.tokens.begin(), example.tokens.end());
      // The prompt has 3 tokens and the answer 6: what follows the end is the end.
      ids.resize(9, 2);
      const std::vector<std::int64_t> truth = ids;
      int begin = 3, end = 9;
      if (uniform() <
          semi_share) {  // A block of two that begins in the answer proper, which has 4 tokens.
        begin = 3 + static_cast<int>(uniform() * 4);
        end = begin + 2;
      }
      const double t = 1 - uniform();
      std::vector<int> told;
      for (int i = begin; i < 9; i++) {
        if (i < end && uniform() >= t) continue;
        ids[i] = 0;
        if (i < end) told.push_back(i);
      }
      const at::Tensor logits = transformer_logits(
          net, {at::from_blob(ids.data(), {1, 9}, at::kLong).clone(),
                at::arange(9, at::kLong).view({1, 9}), at::ones({9, 9}, at::kBool)});
      for (const int i : told)
        expected -=
            at::log_softmax(logits[0][i], -1)[truth[i]].item<double>() / t / (end - begin) / 16;
    }
    DOCTEST_CHECK(expected > 0.5);
    DOCTEST_CHECK(curves.steps[0].loss == doctest::Approx(expected).epsilon(1e-4));
  }
}

DOCTEST_TEST_CASE(
    "with uniform noise every position of the answer is predicted from the truth among random "
    "tokens, and all weigh alike") {
  const testing::Folder folder;
  TrainMaskedDiffusionJob one = masked_job(1);
  one.options.noise = CanvasNoise::uniform;
  one.options.inverse_weight = false;
  const Curves curves = train(one, folder.path / "run", false);
  const at::NoGradGuard guard;
  const Transformer net = decoder_network(one.options, one, 0, kSeed);
  double expected = 0;
  int replaced = 0;
  for (std::int64_t canvas = 0; canvas < 16; canvas++) {
    const Uniforms uniform = uniforms(kSeed, kTrainingStream, 0, canvas);
    const WorkedExample& example = one.examples[static_cast<std::size_t>(uniform() * 20)];
    std::vector<std::int64_t> ids(example.tokens.begin(), example.tokens.end());
    ids.resize(9, 2);
    const std::vector<std::int64_t> truth = ids;
    uniform();  // Whether a block alone is noisy.
    const double t = 1 - uniform();
    for (int i = 3; i < 9; i++) {
      if (uniform() >= t) continue;
      ids[i] = static_cast<std::int64_t>(uniform() * 8);
      replaced++;
    }
    const at::Tensor logits = transformer_logits(
        net, {at::from_blob(ids.data(), {1, 9}, at::kLong).clone(),
              at::arange(9, at::kLong).view({1, 9}), at::ones({9, 9}, at::kBool)});
    for (int i = 3; i < 9; i++)
      expected -= at::log_softmax(logits[0][i], -1)[truth[i]].item<double>() / 6 / 16;
  }
  DOCTEST_CHECK(replaced > 20);
  DOCTEST_CHECK(replaced < 76);
  DOCTEST_CHECK(curves.steps[0].loss == doctest::Approx(expected).epsilon(1e-4));
  DOCTEST_CHECK(TransformerConfig::read((folder.path / "run").string()).mask_token_id == -1);
  one.options.tokenizer = "somewhere";
  one.options.inverse_weight = true;
  DOCTEST_CHECK_THROWS_WITH_AS(one.options.check(), doctest::Contains("must be false there"),
                               ConfigError);
}

DOCTEST_TEST_CASE("a resumed training of masks is the uninterrupted one") {
  const testing::Folder folder;
  train(masked_job(6), folder.path / "whole", false);
  train(masked_job(3), folder.path / "parts", false);
  const Curves curves = train(masked_job(6), folder.path / "parts", true);
  const SafetensorsFile whole((folder.path / "whole/model.safetensors").string()),
      parts((folder.path / "parts/model.safetensors").string());
  DOCTEST_CHECK(whole.digest() == parts.digest());
  DOCTEST_CHECK(curves.steps.size() == 6);
  DOCTEST_CHECK(curves.validations.size() == 2);
}

DOCTEST_TEST_CASE(
    "training learns to fill the masks of what it is shown; the checkpoint is one block as long as "
    "any canvas") {
  const testing::Folder folder;
  TrainMaskedDiffusionJob learning = masked_job(400);
  learning.options.validate_every = 400;
  learning.options.semi_share = 0.5;
  learning.options.vary_length = true;
  learning.held_out[0].examples = learning.examples;
  const Curves curves = train(learning, folder.path / "run", false);
  DOCTEST_CHECK(curves.steps.front().loss > 1);
  DOCTEST_REQUIRE(curves.validations.size() == 1);
  DOCTEST_CHECK(curves.validations[0].loss < 0.3);
  DOCTEST_CHECK(curves.validations[0].loss_sequential < 0.3);
  const TransformerConfig config = TransformerConfig::read((folder.path / "run").string());
  DOCTEST_CHECK(config.model_type == "sdar");
  DOCTEST_CHECK(config.block_size == config.max_position_embeddings);
  DOCTEST_CHECK(config.mask_token_id == 0);
}

}  // namespace draftlab
