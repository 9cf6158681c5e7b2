#include "plugins/models/xlnet/train_as_arm.h"

#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "plugins/builtin.h"

namespace draftlab {
namespace {

// The sentence with which a config is refused before anything is loaded; "" when it is not.
std::string refusal(const std::string& options) {
  Registries registries;
  register_trainer_as_arm(registries);
  Faults faults;
  const Config config = Config::parse("[trainer.as-arm]\n" + options, "test.ini", faults);
  const auto bound = registries.trainers.find("as-arm")->bind(config, "trainer.as-arm", faults);
  faults.raise();
  try {
    bound.make();
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

TEST_CASE("a training that cannot be is refused in a sentence that names the rule") {
  const std::string fine = "stories = 10\ntokenizer = somewhere\n";
  CHECK(refusal(fine) == "");
  CHECK(refusal("text = a.txt\nstart = somewhere\n") == "");
  CHECK(refusal("tokenizer = somewhere\n") ==
        "a corpus is needed: text names a file, or stories is more than 0");
  CHECK(refusal("stories = 10\n") == "tokenizer must name a folder that holds spiece.model");
  CHECK(refusal("stories = 10\nstart = none\n") ==
        "tokenizer must name a folder that holds spiece.model");
  CHECK(refusal(fine + "width = 100\nheads = 3\n") ==
        "width = 100 must be a multiple of heads = 3");
  CHECK(refusal(fine + "mask_min = 0.9\nmask_max = 0.5\n") == "mask_min must not exceed mask_max");
  CHECK(refusal(fine + "share_prefix = 0.6\nshare_spans = 0.6\n") ==
        "share_prefix and share_spans must not exceed 1 together");
  CHECK_THROWS_AS(refusal(fine + "steps = 0\n"), ConfigError);
  CHECK_THROWS_AS(refusal(fine + "order = backwards\n"), ConfigError);
}

}  // namespace
}  // namespace draftlab
