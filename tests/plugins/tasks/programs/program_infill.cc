#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <set>

#include "core/base/error.h"
#include "core/config/config.h"
#include "core/config/plugin.h"
#include "plugins/builtin.h"
#include "plugins/tasks/programs/program_lines.h"
#include "plugins/tasks/programs/program_problems.h"
#include "tests/plugins/tasks/words.h"

namespace draftlab {
namespace {

std::unique_ptr<Task> infill(const std::string& options) {
  Registries registries;
  register_task_program_infill(registries);
  Diagnostics diagnostics;
  const Config config = Config::parse("[task.program-infill]\n" + options, "test.ini", diagnostics);
  const auto bound =
      registries.tasks.find("program-infill")->bind(config, "task.program-infill", diagnostics);
  diagnostics.raise();
  return bound.make();
}

// The tokens of a prompt that are to be decoded, and those given before and behind them.
struct Parts {
  std::vector<Token> before, hidden, behind;
};
Parts parts_of(const Prompt& prompt) {
  std::map<std::int32_t, Token> given(prompt.given.begin(), prompt.given.end());
  Parts parts;
  for (std::int32_t position = 0; position < prompt.length; ++position) {
    if (!given.contains(position))
      parts.hidden.push_back(prompt.reference[position]);
    else
      (parts.hidden.empty() ? parts.before : parts.behind).push_back(given.at(position));
  }
  return parts;
}

// The scores of the canvas whose hidden positions hold these tokens, as far as there are any.
std::map<std::string, double> scores_of(const Task& task, const Prompt& prompt,
                                        const std::vector<Token>& line) {
  Canvas canvas(prompt.length, prompt.given);
  const auto first = static_cast<std::int32_t>(parts_of(prompt).before.size());
  for (std::size_t i = 0; i < line.size(); ++i)
    canvas.commit(first + static_cast<std::int32_t>(i), line[i]);
  std::map<std::string, double> scores;
  for (const Score& score : task.score(prompt, canvas)) scores[score.name] = score.value;
  return scores;
}

TEST_CASE("task program-infill: one line that does something is hidden, all else is given") {
  const Words words;
  const auto task = infill("count = 200\n");
  task->load(&words);
  REQUIRE(task->size() == 200);
  std::set<std::string> first_words;
  std::set<std::size_t> places;
  for (int index = 0; index < task->size(); ++index) {
    const Prompt prompt = task->prompt(index);
    CAPTURE(prompt.text);
    CHECK(prompt.id.starts_with("program-infill-test-" + std::to_string(index) + "-"));
    const auto [before, hidden, behind] = parts_of(prompt);
    REQUIRE(prompt.length == static_cast<int>(before.size() + hidden.size() + behind.size()));
    const std::string line = words.decode(hidden);
    const std::vector<std::string> lines = program_lines(prompt.text);
    std::set<std::string> working;
    for (const std::size_t at : working_lines(lines)) working.insert(lines[at]);
    CHECK(working.contains(line));
    first_words.insert(line.substr(0, line.find(' ')));
    // The question and the lines before it, then the lines behind it.
    REQUIRE(before.front() == words.begin());
    const std::string left = words.decode({before.begin() + 1, before.end()});
    const std::size_t head = left.find(". def f (");
    REQUIRE(head != std::string::npos);
    CHECK(left.substr(head + 2) + " " + line + " " + words.decode(behind) == prompt.text);
    places.insert(program_lines(left.substr(head + 2)).size());
  }
  // Every kind of line is hidden somewhere, early ones and late ones.
  for (const char* word : {"if", "for", "while", "return", "t"})
    CHECK_MESSAGE(first_words.contains(word), word);
  CHECK(places.size() >= 5);
}

TEST_CASE("task program-infill: the completed program counts, by what it does") {
  const Words words;
  const auto task = infill("count = 300\n");
  task->load(&words);
  using Scores = std::map<std::string, double>;
  int counted = 0;
  for (int index = 0; index < task->size(); ++index) {
    const Prompt prompt = task->prompt(index);
    CAPTURE(prompt.text);
    const std::vector<Token> hidden = parts_of(prompt).hidden;
    CHECK(scores_of(*task, prompt, hidden) ==
          Scores{{"correct", 1}, {"parses", 1}, {"token_match", 1}, {"exact_match", 1}});
    // A line of other words is no program; one that was not decoded is not the reference.
    const std::vector<Token> noise(hidden.size(), words.encode("end")[0]);
    CHECK(scores_of(*task, prompt, noise).at("correct") == 0);
    CHECK(scores_of(*task, prompt, noise).at("parses") == 0);
    CHECK(scores_of(*task, prompt, {}).at("exact_match") == 0);
    if (words.decode(hidden) != "n = n + 1") continue;
    ++counted;
    // Other words that do the same are right, and a program that parses may be wrong.
    const Scores other = scores_of(*task, prompt, words.encode("n = 1 + n"));
    CHECK(other.at("correct") == 1);
    CHECK(other.at("exact_match") == 0);
    const Scores wrong = scores_of(*task, prompt, words.encode("n = n - 1"));
    CHECK(wrong.at("correct") == 0);
    CHECK(wrong.at("parses") == 1);
  }
  CHECK(counted > 0);
}

TEST_CASE("task program-infill: the programs are those of the split that was named") {
  const Words words;
  for (const ProgramSplit split : {ProgramSplit::train, ProgramSplit::tune, ProgramSplit::test}) {
    const auto task = infill("count = 50\nsplit = " + std::string(word(split)) + "\n");
    task->load(&words);
    for (int index = 0; index < task->size(); ++index)
      CHECK(program_split_of(task->prompt(index).text) == split);
  }
}

// A tokenizer that loses the space between words.
class Joining final : public Words {
 public:
  std::string decode(const std::vector<Token>& tokens) const override {
    std::string text = Words::decode(tokens);
    std::erase(text, ' ');
    return text;
  }
};

TEST_CASE("task program-infill: what cannot be decoded is refused") {
  CHECK_THROWS_WITH_AS(infill("")->load(nullptr),
                       "task 'program-infill' decodes text, but the model has no tokenizer",
                       ConfigError);
  const Joining joining;
  const auto joined = infill("count = 1\n");
  joined->load(&joining);
  CHECK_THROWS_AS(joined->prompt(0), ConfigError);
}

}  // namespace
}  // namespace draftlab
