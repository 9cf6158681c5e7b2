#include "plugins/models/block_diffusion/train_block_diffusion.h"

#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "plugins/builtin.h"

namespace draftlab {
namespace {

// The sentence with which a config is refused before anything is loaded; "" when it is not.
std::string refusal(const std::string& options) {
  Registries registries;
  register_trainer_block_diffusion(registries);
  Faults faults;
  const Config config = Config::parse("[trainer.block-diffusion]\n" + options, "test.ini", faults);
  const auto bound =
      registries.trainers.find("block-diffusion")->bind(config, "trainer.block-diffusion", faults);
  faults.raise();
  try {
    bound.make();
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

TEST_CASE("a training of blocks that cannot be is refused in a sentence that names the rule") {
  const std::string fine = "tokenizer = somewhere\n";
  CHECK(refusal(fine) == "");
  CHECK(refusal("start = somewhere\n") == "");
  CHECK(refusal("") ==
        "trainer.block-diffusion.tokenizer must name a folder that holds spiece.model");
  CHECK(refusal(fine + "problems = 0\n") ==
        "trainer.block-diffusion needs problems or programs to train on");
  CHECK(refusal(fine + "heads = 5\ngroups = 2\n") ==
        "trainer.block-diffusion.heads = 5 must be a multiple of groups = 2");
  CHECK(refusal(fine + "head = 7\n") == "trainer.block-diffusion.head = 7 must be even");
  CHECK(refusal(fine + "block_size = 1, 4, 8\n") == "");
  CHECK(refusal(fine + "block_size =\n") ==
        "trainer.block-diffusion.block_size must name at least one size");
  CHECK(refusal(fine + "validate_answers = 65\n") ==
        "trainer.block-diffusion.validate_answers must not exceed validate_canvases");
}

}  // namespace
}  // namespace draftlab
