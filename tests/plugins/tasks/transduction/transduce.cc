#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "core/base/error.h"
#include "core/config/config.h"
#include "core/config/plugin.h"
#include "core/metrics/text_metrics.h"
#include "plugins/builtin.h"
#include "plugins/tasks/transduction/parallel_text.h"
#include "plugins/tasks/transduction/transductions.h"
#include "plugins/tokenizers/tokenizer.h"

namespace draftlab {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

TEST_CASE("a translation depends on seed, index and split alone; some, word by word") {
  // Verb last, adverb first, nouns with case and number, what agrees behind them: micur is of
  // gender a, lopur of gender u.
  const Transduction made = make_transduction(1, 5, ProblemSplit::train);
  CHECK(made.source == "four old dogs waited because the cold old cat worked .");
  CHECK(made.target == "micur gamela hlada la trudata nakor , sobaki staros cet cekalatos .");
  CHECK(make_transduction(1, 1, ProblemSplit::train).target == "dokan novo lo domarm la strogeo .");
  CHECK(make_transduction(2, 5, ProblemSplit::train).source != made.source);
  CHECK(make_transduction(1, 5, ProblemSplit::tune).source != made.source);
}

TEST_CASE("sources of two splits never meet, whatever the seed; few come twice") {
  std::set<std::string> train;
  std::size_t longest = 0;
  for (int i = 0; i < 4000; ++i) {
    const Transduction made =
        make_transduction(static_cast<std::uint64_t>(i % 3), i, ProblemSplit::train);
    REQUIRE(problem_split_of(made.source) == ProblemSplit::train);
    REQUIRE(made.source.ends_with(" ."));
    REQUIRE(made.target.ends_with(" ."));
    REQUIRE(made.target.find("  ") == std::string::npos);
    train.insert(made.source);
    longest = std::max(longest, words(made.target).size());
  }
  CHECK(train.size() > 3950);
  CHECK(longest > 20);
  CHECK(longest <= 32);
  for (const ProblemSplit split : {ProblemSplit::tune, ProblemSplit::test})
    for (int i = 0; i < 500; ++i) REQUIRE(!train.contains(make_transduction(1, i, split).source));
}

TEST_CASE("adjectives and determiners agree with their noun, the verb with its subject") {
  // "the quiet bird sings": ptilur (u) or avek (a), and everything else follows that choice.
  std::set<std::string> seen;
  for (int i = 0; i < 4000; ++i) {
    const std::vector<std::string> target =
        words(make_transduction(1, i, ProblemSplit::train).target);
    for (std::size_t w = 0; w + 1 < target.size(); ++w) {
      if (target[w] == "ptilur" && target[w + 1].starts_with("l")) seen.insert(target[w + 1]);
      if (target[w] == "aveki" && target[w + 1].starts_with("l")) seen.insert(target[w + 1]);
    }
  }
  CHECK(seen.contains("lu"));
  CHECK(seen.contains("las"));
  for (const char* wrong : {"la", "lo", "los", "lus"}) CHECK_FALSE(seen.contains(wrong));
}

TEST_CASE("the shipped vocabulary spells every sentence, and an answer fits its positions") {
  const auto tokenizer =
      open_tokenizer(std::string(DRAFTLAB_SOURCE_DIR) + "/data/checkpoints/transduce-base");
  std::size_t longest = 0, sum = 0;
  for (int i = 0; i < 1000; ++i) {
    const Transduction made = make_transduction(1, i, ProblemSplit::test);
    const std::vector<Token> source = tokenizer->encode(made.source),
                             target = tokenizer->encode(made.target);
    REQUIRE(tokenizer->decode(source) == made.source);
    REQUIRE(tokenizer->decode(target) == made.target);
    longest = std::max(longest, target.size());
    sum += target.size();
  }
  MESSAGE("longest " << longest << " mean " << sum / 1000.0);
  CHECK(longest < 64);
}

TEST_CASE(
    "task transduce: the source is given, the translation masked; scores are the sums of BLEU") {
  Registries registries;
  register_task_transduce(registries);
  const auto make = [&](const std::string& options) {
    Diagnostics diagnostics;
    const auto bound =
        registries.tasks.find("transduce")
            ->bind(Config::parse("[task.transduce]\n" + options, "test.ini", diagnostics),
                   "task.transduce", diagnostics);
    diagnostics.raise();
    return bound.make();
  };
  const auto tokenizer =
      open_tokenizer(std::string(DRAFTLAB_SOURCE_DIR) + "/data/checkpoints/transduce-base");
  const auto task = make("split = train\ncount = 6\n");
  task->load(tokenizer.get());
  REQUIRE(task->size() == 6);
  const Prompt prompt = task->prompt(5);
  CHECK(
      tokenizer->decode({prompt.reference.begin() + 1, prompt.reference.begin() + prompt.offset}) ==
      "four old dogs waited because the cold old cat worked .");
  CHECK(prompt.length == prompt.offset + 64);
  CHECK(prompt.given.size() == static_cast<std::size_t>(prompt.offset));

  Canvas canvas(prompt.length, prompt.given);
  for (std::int32_t i = prompt.offset; i < prompt.length; ++i)
    canvas.commit(i, prompt.reference[i]);
  const std::vector<Score> scores = task->score(prompt, canvas);
  REQUIRE(scores.size() == kBleuSums.size() + 1);
  CHECK(scores[0].name == "bleu_match_1");
  CHECK(scores[0].value ==
        12);  // The twelve are: micur gamela hlada la trudata nakor , sobaki staros cet cekalatos .
  CHECK(scores.back().name == "exact_match");
  CHECK(scores.back().value == 1);
  CHECK_THROWS_AS(make("source = a.txt\n"), ConfigError);
}

TEST_CASE("parallel text: line by line, both sides or neither") {
  const auto read = [](const std::string& source, const std::string& target) {
    return parse_parallel(source, "a.src", target, "a.trg");
  };
  const std::vector<SentencePair> pairs = read("one\r\n\nthree\n", "eins\n \ndrei");
  REQUIRE(pairs.size() == 2);
  CHECK(pairs[0].source == "one");
  CHECK(pairs[1].target == "drei");
  CHECK(pairs[1].line == 3);
  const auto message = [&](const std::string& source, const std::string& target) -> std::string {
    try {
      read(source, target);
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message("one\ntwo\n", "eins\n") ==
        "'a.src' has 2 lines and 'a.trg' has 1; line by line they must be translations of one "
        "another");
  CHECK(message("one\n\n", "eins\nzwei\n") == "'a.src' line 2 is blank, but not its translation");
  CHECK(message("\n\n", "\n\n") == "'a.src' holds no text: every line is blank");
}

}  // namespace
}  // namespace draftlab
