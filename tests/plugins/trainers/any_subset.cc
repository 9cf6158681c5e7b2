#include "plugins/models/xlnet/train_any_subset.h"

#include <doctest/doctest.h>

#include "core/base/error.h"
#include "plugins/builtin.h"
#include "plugins/tasks/programs/program_problems.h"
#include "tests/plugins/models/letters.h"
#include "tests/plugins/tasks/words.h"
#include "tests/plugins/trainers/refusal.h"

namespace draftlab {
namespace {

std::string any_subset_refusal(const std::string& options) {
  return testing::refusal(register_trainer_any_subset, "any-subset", options);
}

TEST_CASE("a training that cannot be is refused in a sentence that names the rule") {
  const std::string fine = "stories = 10\ntokenizer = somewhere\n";
  CHECK(any_subset_refusal(fine) == "");
  CHECK(any_subset_refusal("programs = 10\ntokenizer = somewhere\n") == "");
  CHECK(any_subset_refusal("text = a.txt\nstart = somewhere\n") == "");
  CHECK(any_subset_refusal("tokenizer = somewhere\n") ==
        "a corpus is needed: text names a file, or stories or programs is more than 0");
  CHECK(any_subset_refusal("stories = 10\n") ==
        "tokenizer must name a folder that holds spiece.model");
  CHECK(any_subset_refusal("stories = 10\nstart = none\n") ==
        "tokenizer must name a folder that holds spiece.model");
  CHECK(any_subset_refusal(fine + "width = 100\nheads = 3\n") ==
        "width = 100 must be a multiple of heads = 3");
  CHECK(any_subset_refusal(fine + "mask_min = 0.9\nmask_max = 0.5\n") ==
        "mask_min must not exceed mask_max");
  CHECK(any_subset_refusal(fine + "share_prefix = 0.6\nshare_spans = 0.6\n") ==
        "share_prefix and share_spans must not exceed 1 together");
  CHECK_THROWS_AS(any_subset_refusal(fine + "steps = 0\n"), ConfigError);
  CHECK_THROWS_AS(any_subset_refusal(fine + "order = backwards\n"), ConfigError);
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

// A tokenizer that keeps what it was asked to encode.
class Keeping final : public Words {
 public:
  std::vector<Token> encode(const std::string& text) const override {
    texts.push_back(text);
    return Words::encode(text);
  }
  mutable std::vector<std::string> texts;
};

TEST_CASE("generated programs are trained on behind their questions, and others validate") {
  TrainAnySubsetOptions options;
  options.programs = 40;
  const Keeping words;
  const auto [corpus, held_out] = generated_corpora(options, words, 1);
  CHECK(corpus.documents() == 40);
  CHECK(held_out.documents() == 500);
  REQUIRE(words.texts.size() == 540);
  for (std::size_t i = 0; i < words.texts.size(); ++i) {
    const bool trained = i < 40;
    const ProgramSplit split = trained ? ProgramSplit::train : ProgramSplit::tune;
    const std::string& text = words.texts[i];
    CHECK(text ==
          make_program_problem(1, static_cast<std::int64_t>(trained ? i : i - 40), split).text());
    CHECK(program_split_of(text.substr(text.find("def f ("))) == split);
  }
}

TEST_CASE("stories and programs are trained on side by side") {
  TrainAnySubsetOptions options;
  options.stories = 3;
  options.programs = 2;
  const auto [corpus, held_out] = generated_corpora(options, Words(), 1);
  CHECK(corpus.documents() == 5);
  CHECK(held_out.documents() == 1000);
  options.programs = 0;
  CHECK(generated_corpora(options, Words(), 1).first.documents() == 3);
  CHECK(generated_corpora(options, Words(), 1).second.documents() == 500);
}

}  // namespace
}  // namespace draftlab
