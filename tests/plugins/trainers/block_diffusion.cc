#include "plugins/models/block_diffusion/train_block_diffusion.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "core/config/plugin.h"
#include "plugins/builtin.h"
#include "plugins/tasks/stories/stories.h"
#include "plugins/tokenizers/tokenizer.h"
#include "tests/plugins/trainers/refusal.h"

namespace draftlab {
namespace {

std::string block_refusal(const std::string& options) {
  return testing::refusal(register_trainer_block_diffusion, "block-diffusion", options);
}

TEST_CASE("a training of blocks that cannot be is refused in a sentence that names the rule") {
  const std::string fine = "tokenizer = somewhere\n";
  CHECK(block_refusal(fine) == "");
  CHECK(block_refusal("start = somewhere\n") == "");
  CHECK(block_refusal("") ==
        "trainer.block-diffusion.tokenizer must name a folder that holds spiece.model");
  CHECK(block_refusal(fine + "problems = 0\n") ==
        "trainer.block-diffusion needs problems, programs or stories to train on");
  CHECK(block_refusal(fine + "heads = 5\ngroups = 2\n") ==
        "trainer.block-diffusion.heads = 5 must be a multiple of groups = 2");
  CHECK(block_refusal(fine + "head = 7\n") == "trainer.block-diffusion.head = 7 must be even");
  CHECK(block_refusal(fine + "block_size = 1, 4, 8\n") == "");
  CHECK(block_refusal(fine + "block_size =\n") ==
        "trainer.block-diffusion.block_size must name at least one size");
  CHECK(block_refusal(fine + "validate_answers = 65\n") ==
        "trainer.block-diffusion.validate_answers must not exceed validate_canvases");
}

TEST_CASE("a decoder learns stories from their begin token to their end") {
  const std::string tokenizer = std::string(DRAFTLAB_SOURCE_DIR) + "/data/checkpoints/stories",
                    out = std::filesystem::temp_directory_path() /
                          ("draftlab-decoder-" + std::to_string(getpid()));
  TrainDecoderOptions options;
  options.tokenizer = tokenizer;
  options.problems = 0;
  options.stories = 5;
  options.validate_canvases = 3;
  const Registries registries;
  const Config config;
  DecoderCorpus corpus;
  train_decoder("masked-diffusion", options, {registries, config, {}, 7, out},
                [&](const DecoderCorpus& made) { corpus = made; });
  CHECK(has_tokenizer(out));
  std::filesystem::remove_all(out);
  REQUIRE(corpus.examples.size() == 5);
  REQUIRE(corpus.held_out.size() == 1);
  REQUIRE(corpus.held_out[0].examples.size() == 3);
  CHECK_FALSE(corpus.held_out[0].right);
  const auto words = open_tokenizer(tokenizer);
  const auto check = [&](const WorkedExample& example, const Story& story) {
    CHECK(example.prompt == 1);
    CHECK(example.tokens.front() == words->document_begin());
    CHECK(example.tokens.back() == words->separator());
    CHECK(words->decode({example.tokens.begin() + 1, example.tokens.end() - 1}) == story.text());
  };
  for (int i = 0; i < 5; i++) check(corpus.examples[i], make_story(7, i, Split::train));
  for (int i = 0; i < 3; i++)
    check(corpus.held_out[0].examples[i], make_story(7, i, Split::validation));
}

}  // namespace
}  // namespace draftlab
