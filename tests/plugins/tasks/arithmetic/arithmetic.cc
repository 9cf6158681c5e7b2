#include "plugins/tasks/arithmetic/arithmetic_problems.h"

#include <doctest/doctest.h>

#include <cctype>
#include <set>
#include <sstream>

#include "core/base/error.h"
#include "core/config/config.h"
#include "core/config/plugin.h"
#include "plugins/builtin.h"
#include "plugins/tasks/final_number.h"
#include "tests/plugins/tasks/ascii.h"

namespace draftlab {
namespace {

// Every "left=right" of a worked answer: the value of the left side, by its one operator, and the
// right side.
std::vector<std::pair<int, int>> equations(const std::string& worked) {
  std::vector<std::pair<int, int>> all;
  std::istringstream words(worked);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('='), sign = word.find_first_of("+-*/");
    if (equals == std::string::npos) continue;
    const int a = std::stoi(word), b = std::stoi(word.substr(sign + 1));
    all.emplace_back(word[sign] == '+'   ? a + b
                     : word[sign] == '-' ? a - b
                     : word[sign] == '*' ? a * b
                                         : a / b,
                     std::stoi(word.substr(equals + 1)));
  }
  return all;
}

TEST_CASE("a problem depends on seed, index and split alone; two, letter by letter") {
  const Problem problem = make_problem(1, 8, ProblemSplit::train);
  CHECK(problem.question == "Nora has 3 beads. She buys 7 more. How many beads are there then?");
  CHECK(problem.worked == "Nora has 3 beads. With 7 more that makes 3+7=10 beads. #### 10");
  CHECK(problem.answer == 10);
  CHECK(make_problem(1, 9, ProblemSplit::train).worked ==
        "The bowls hold 4*5=20 plums. Without these 6 there are 20-6=14 plums. #### 14");
  CHECK(make_problem(2, 8, ProblemSplit::train).question != problem.question);
  CHECK(make_problem(1, 8, ProblemSplit::tune).question != problem.question);
}

TEST_CASE("five thousand problems: every equation holds, and the last one gives the answer") {
  std::set<std::string> questions;
  int longest = 0;
  for (int i = 0; i < 5000; ++i) {
    const Problem problem = make_problem(3, i, ProblemSplit::train);
    CAPTURE(problem.worked);
    const auto worked = equations(problem.worked);
    REQUIRE(!worked.empty());
    for (const auto& [left, right] : worked) REQUIRE(left == right);
    REQUIRE(worked.back().second == problem.answer);
    REQUIRE(problem.answer >= 1);
    REQUIRE(problem.answer <= 40);
    REQUIRE(final_number(problem.worked) == std::to_string(problem.answer));
    REQUIRE(problem.question.back() == '?');
    REQUIRE((problem.question + problem.worked).find_first_of("{}") == std::string::npos);
    longest = std::max(longest, static_cast<int>(worked.size()));
    questions.insert(problem.question);
  }
  CHECK(questions.size() > 4950);
  CHECK(longest >= 4);
}

TEST_CASE("no question of one split is a question of another, whatever the seed") {
  for (ProblemSplit split : {ProblemSplit::train, ProblemSplit::tune, ProblemSplit::test})
    for (int i = 0; i < 300; ++i)
      REQUIRE(problem_split_of(
                  make_problem(static_cast<std::uint64_t>(i % 7), i, split).question) == split);
}

TEST_CASE("the final number: after the last ####, else in the last box, spelled plainly") {
  CHECK(final_number("She has 3+4=7 eggs.\n#### 7") == "7");
  CHECK(final_number("#### 3 and then #### 12.") == "12");
  CHECK(final_number("#### $1,234.50") == "1234.5");
  CHECK(final_number("#### -8") == "-8");
  CHECK(final_number("#### 18.00 dollars") == "18");
  CHECK(final_number("so \\boxed{5}, no, \\boxed{42}") == "42");
  CHECK(final_number("\\boxed{$9}") == "9");
  CHECK(!final_number("the answer is 7"));
  CHECK(!final_number("#### seven"));
  CHECK(!final_number("####"));
  CHECK(!final_number(""));
}

TEST_CASE(
    "task arithmetic: the question is given; what follows the first end token is neither text nor "
    "scored") {
  Registries registries;
  register_task_arithmetic(registries);
  Diagnostics diagnostics;
  const Config config =
      Config::parse("[task.arithmetic]\nsplit = train\ncount = 9\nanswer_tokens = 100\n",
                    "test.ini", diagnostics);
  const auto task =
      registries.tasks.find("arithmetic")->bind(config, "task.arithmetic", diagnostics).make();
  diagnostics.raise();
  CHECK_THROWS_AS(task->load(nullptr), ConfigError);
  const Ascii letters;
  task->load(&letters);
  REQUIRE(task->size() == 9);
  const Prompt prompt = task->prompt(8);
  const std::string question = "Nora has 3 beads. She buys 7 more. How many beads are there then?";
  const std::string worked = "Nora has 3 beads. With 7 more that makes 3+7=10 beads. #### 10";
  const int asked = static_cast<int>(question.size()) + 1;
  CHECK(prompt.offset == asked);
  CHECK(prompt.length == asked + 100);
  CHECK(prompt.given.size() == question.size() + 1);
  CHECK(prompt.given[0] == std::pair<std::int32_t, Token>{0, 1});
  CHECK(prompt.text == worked);
  CHECK(prompt.reference[static_cast<std::size_t>(asked) + worked.size()] == 4);
  CHECK(prompt.reference.back() == 4);

  const auto answered = [&](const std::string& answer) {
    Canvas canvas(prompt.length, prompt.given);
    for (std::size_t i = 0; i < answer.size(); ++i)
      canvas.commit(asked + static_cast<std::int32_t>(i), static_cast<Token>(answer[i]));
    return canvas;
  };
  const auto correct = [&](const std::string& answer) {
    const std::vector<Score> scores = task->score(prompt, answered(answer));
    REQUIRE(scores.size() == 1);
    CHECK(scores[0].name == "correct");
    return scores[0].value;
  };
  CHECK(correct(worked + "\x04") == 1);
  CHECK(correct("#### 10\x04#### 11") == 1);
  CHECK(correct("#### 11\x04#### 10") == 0);
  CHECK(correct("10") == 0);
  CHECK(task->text(prompt, answered("#### 10\x04#### 11")) == "#### 10");
  CHECK(task->prompt(7).id != prompt.id);
}

}  // namespace
}  // namespace draftlab
