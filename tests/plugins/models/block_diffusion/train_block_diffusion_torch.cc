// The loop of the trainer `block-diffusion`: it learns, both ways of answering, and a resumed run
// is the whole one.
#include "plugins/models/block_diffusion/train_block_diffusion.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/config/plugin.h"
#include "core/trace/curves.h"
#include "plugins/models/block_diffusion/block_diffusion.h"
#include "plugins/models/nn/checkpoint/safetensors.h"
#include "plugins/models/nn/transformer/transformer_torch.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

// The answer to two letters is the second, then the first, then the second again. 0 is the mask, 1
// begins, 2 ends.
TrainBlockDiffusionJob block_job(std::int64_t steps) {
  TrainBlockDiffusionJob job;
  job.vocabulary = 8;
  job.mask = 0;
  job.end = 2;
  HeldOut held_out{"swap", {}, {}};
  for (Token a = 3; a < 8; a++)
    for (Token b = 3; b < 8; b++) {
      const WorkedExample example{{1, a, b, b, a, b, 2}, 3};
      ((a + 2 * b) % 5 == 0 ? held_out.examples : job.examples).push_back(example);
    }
  held_out.right = [examples = held_out.examples](std::size_t i, const std::vector<Token>& answer) {
    return answer ==
           std::vector<Token>(examples[i].tokens.begin() + 3, examples[i].tokens.end() - 1);
  };
  job.held_out.push_back(held_out);
  TrainBlockDiffusionOptions& o = job.options;
  o.layers = 2, o.width = 16, o.heads = 4, o.groups = 2, o.head = 8, o.inner = 32,
  o.block_size = {4}, o.causal_share = 0.5, o.warm_steps = 2;
  o.batch = 8, o.accumulate = 2, o.steps = steps, o.warmup = 0, o.floor = 1, o.rate = 1e-2,
  o.log_every = 1, o.validate_every = 3;
  o.validate_answers = 5, o.inverse_weight = false;
  return job;
}

void train(const TrainBlockDiffusionJob& job, const std::filesystem::path& out, bool resume,
           const std::string& text = "") {
  const Registries registries;
  Diagnostics diagnostics;
  const Config config = Config::parse(text, "test.ini", diagnostics);
  Machine machine;
  machine.threads = 1;
  std::filesystem::create_directories(out);
  draftlab_train_block_diffusion(job, {registries, config, machine, 5, out.string(), resume});
}

// The first four tokens after the prompt as the model block-diffusion writes them: the most
// probable token of the most confident position of the block, then the next.
std::vector<Token> denoised(Model& model, const std::vector<Token>& prompt, const Blocks& blocks) {
  std::vector<std::pair<std::int32_t, Token>> given;
  for (std::size_t i = 0; i < prompt.size(); i++)
    given.emplace_back(static_cast<std::int32_t>(i), prompt[i]);
  Canvas canvas(static_cast<std::int32_t>(prompt.size()) + 4, given);
  const auto sequence = model.open(canvas, blocks);
  const auto ask = [&](const Question& question) {
    Answer answer;
    Pending pending{sequence.get(), &question, &answer};
    model.answer({&pending, 1});
    return answer;
  };
  while (!canvas.masked_positions().empty()) {
    while (const std::optional<Question> due = model.due(*sequence)) ask(*due);
    Question question{
        .kind = Kind::draft, .view = View::bidirectional, .nodes = {}, .asks = {{kRoot, {}}}};
    std::vector<std::int32_t>& open = question.asks[0].positions;
    for (const std::int32_t i : canvas.masked_positions())
      if (open.empty() || blocks.first(i) == blocks.first(open[0])) open.push_back(i);
    const Answer answer = ask(question);
    const std::int32_t sure = *std::max_element(open.begin(), open.end(), [&](auto a, auto b) {
      return answer.at(kRoot, a).max() < answer.at(kRoot, b).max();
    });
    canvas.commit(sure, answer.at(kRoot, sure).argmax());
  }
  return {canvas.tokens().begin() + static_cast<std::ptrdiff_t>(prompt.size()),
          canvas.tokens().end()};
}

DOCTEST_TEST_CASE("a resumed training of blocks is the uninterrupted one") {
  const testing::Folder folder;
  train(block_job(6), folder.path / "whole", false);
  train(block_job(3), folder.path / "parts", false);
  train(block_job(6), folder.path / "parts", true);
  const SafetensorsFile whole((folder.path / "whole/model.safetensors").string()),
      parts((folder.path / "parts/model.safetensors").string());
  DOCTEST_CHECK(whole.tensors().size() == 2 + 2 * 11);
  DOCTEST_CHECK(whole.digest() == parts.digest());
  const Curves curves = read_curves((folder.path / "parts/curves.h5").string());
  DOCTEST_REQUIRE(curves.steps.size() == 6);
  DOCTEST_CHECK(curves.validations.size() == 2);
}

DOCTEST_TEST_CASE("a training goes on with the options that it was begun with") {
  const testing::Folder folder;
  const std::string begun = "[trainer.block-diffusion]\nrate = 0.002\nsteps = 2\n";
  const auto goes_on = [&](const std::string& text) {
    train(block_job(3), folder.path, true, text);
  };
  train(block_job(2), folder.path, false, begun);
  const auto refused = [&](const std::string& text) -> std::string {
    try {
      goes_on(text);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "nothing";
  };
  DOCTEST_CHECK(refused("[trainer.block-diffusion]\nrate = 0.1\n")
                    .find("begun with trainer.block-diffusion.rate 0.002, and the config has it "
                          "0.1") != std::string::npos);
  DOCTEST_CHECK(refused("").find("rate 0.002, and the config has it unset") != std::string::npos);
  // How long it goes on may change.
  goes_on("[trainer.block-diffusion]\nrate = 0.002\nsteps = 3\nvalidate_every = 1\n");
}

DOCTEST_TEST_CASE(
    "training learns to answer one token at a time and by blocks; the checkpoint is SDAR's") {
  const testing::Folder folder;
  TrainBlockDiffusionJob learning = block_job(800);
  learning.options.validate_every = 800;
  train(learning, folder.path / "run", false);
  const Curves curves = read_curves((folder.path / "run/curves.h5").string());
  DOCTEST_CHECK(curves.steps.front().loss > 1.9);  // Ln 8 = 2.08.
  DOCTEST_REQUIRE(curves.validations.size() == 1);
  DOCTEST_CHECK(curves.validations[0].loss < 0.3);
  DOCTEST_CHECK(curves.validations[0].loss_sequential < 0.3);
  DOCTEST_CHECK(curves.validations[0].accuracy >= 0.8);  // That is a share of five.
  const TransformerConfig config = TransformerConfig::read((folder.path / "run").string());
  DOCTEST_CHECK(config.model_type == "sdar");
  DOCTEST_CHECK(config.block_size == 4);
  DOCTEST_CHECK(config.mask_token_id == 0);
  DOCTEST_CHECK(config.eos_token_id == std::vector<std::int64_t>{2});
}

// A list that names one size draws nothing, so it is that size; a mixture is neither of its sizes,
// and answers in blocks of each.
DOCTEST_TEST_CASE("canvases draw their block sizes from a list") {
  const testing::Folder folder;
  const auto digest = [&](std::vector<std::int64_t> sizes, const std::string& name) {
    TrainBlockDiffusionJob some = block_job(4);
    some.options.block_size = std::move(sizes);
    some.options.causal_share = 0;
    some.options.warm_steps = 0;
    train(some, folder.path / name, false);
    return SafetensorsFile((folder.path / name / "model.safetensors").string()).digest();
  };
  const std::string ones = digest({1}, "ones"), fours = digest({4}, "fours"),
                    mixed = digest({1, 4}, "mixed");
  DOCTEST_CHECK(ones != fours);
  DOCTEST_CHECK(mixed != ones);
  DOCTEST_CHECK(mixed != fours);
  // Both draw the size of each canvas, and whichever they draw is 4.
  DOCTEST_CHECK(digest({4, 4}, "twice") == digest({4, 4, 4}, "thrice"));

  TrainBlockDiffusionJob learning = block_job(400);
  learning.options.block_size = {1, 2, 4};
  learning.options.causal_share = 0;
  learning.options.validate_every = 400;
  train(learning, folder.path / "run", false);
  const Curves curves = read_curves((folder.path / "run/curves.h5").string());
  DOCTEST_REQUIRE(curves.validations.size() == 1);
  DOCTEST_CHECK(curves.validations[0].loss < 0.3);
  DOCTEST_CHECK(curves.validations[0].loss_sequential < 0.3);
  DOCTEST_CHECK(TransformerConfig::read((folder.path / "run").string()).block_size == 1);
}

DOCTEST_TEST_CASE("a right-shifted model learns both ways of answering, and decodes") {
  const testing::Folder folder;
  TrainBlockDiffusionJob learning = block_job(400);
  learning.options.validate_every = 400;
  learning.options.model_type = DecoderFamily::fast_dllm;
  train(learning, folder.path / "run", false);
  const Curves curves = read_curves((folder.path / "run/curves.h5").string());
  DOCTEST_CHECK(curves.steps.front().loss > 1.9);
  DOCTEST_REQUIRE(curves.validations.size() == 1);
  DOCTEST_CHECK(curves.validations[0].loss < 0.3);
  DOCTEST_CHECK(curves.validations[0].loss_sequential < 0.3);
  DOCTEST_CHECK(curves.validations[0].accuracy >= 0.8);
  const TransformerConfig config = TransformerConfig::read((folder.path / "run").string());
  DOCTEST_CHECK(config.model_type == "Fast_dLLM_Qwen");
  DOCTEST_CHECK(config.block_size == 4);

  BlockDiffusionOptions options;
  options.checkpoint = (folder.path / "run").string();
  const std::unique_ptr<Model> model(draftlab_make_block_diffusion(&options));
  model->load({Device::cpu, Precision::f32, 1});
  for (const std::int32_t block : {1, 4}) {
    int right = 0;
    for (const WorkedExample& example : learning.held_out[0].examples) {
      right += denoised(*model, {1, example.tokens[1], example.tokens[2]}, {block, 0}) ==
               std::vector<Token>(example.tokens.begin() + 3, example.tokens.end());
    }
    DOCTEST_INFO("blocks of " << block);
    DOCTEST_CHECK(right >= 4);  // There are five of them.
  }
}

}  // namespace
}  // namespace draftlab
