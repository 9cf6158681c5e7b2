#include "plugins/models/xlnet/train_any_subset.h"

#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "plugins/builtin.h"
#include "tests/plugins/models/letters.h"

namespace draftlab {
namespace {

// The sentence with which a config is refused before anything is loaded; "" when it is not.
std::string refusal(const std::string& options) {
  Registries registries;
  register_trainer_any_subset(registries);
  Diagnostics diagnostics;
  const Config config = Config::parse("[trainer.any-subset]\n" + options, "test.ini", diagnostics);
  const auto bound =
      registries.trainers.find("any-subset")->bind(config, "trainer.any-subset", diagnostics);
  diagnostics.raise();
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

TEST_CASE("documents are packed as draftlab has them, or as ASSD's authors do for XLNet") {
  const Letters letters;
  TrainAnySubsetOptions options;
  const TrainingCorpus own({"ab"}, document_format(options, letters));
  CHECK(own.canvas(5, 0, true) == std::vector<Token>{1, 9, 10, 4, 9});
  options.packing = DocumentEnds::xlnet;
  const TrainingCorpus packed({"ab"}, document_format(options, letters));
  CHECK(packed.canvas(6, 0, true) == std::vector<Token>{9, 10, 4, 3, 2, 9});
  options.white_space = WhiteSpace::xlnet;
  const TrainingCorpus code({"a\n  b\tc"}, document_format(options, letters));
  CHECK(code.canvas(9, 0, true) == std::vector<Token>{9, 3, 0, 10, 4, 11, 4, 3, 2});
}

}  // namespace
}  // namespace draftlab
