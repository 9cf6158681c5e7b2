#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "core/base/error.h"
#include "core/config/config.h"
#include "core/config/plugin.h"
#include "plugins/builtin.h"
#include "plugins/tasks/programs/program_tests.h"
#include "tests/plugins/tasks/words.h"

namespace draftlab {
namespace {

TEST_CASE("a problem depends on seed, index and split alone") {
  CHECK(make_program_problem(1, 7).text() == make_program_problem(1, 7).text());
  CHECK(make_program_problems(1, 8)[7].text() == make_program_problem(1, 7).text());
  CHECK(make_program_problem(1, 7).text() != make_program_problem(2, 7).text());
  CHECK(make_program_problem(1, 7).text() != make_program_problem(1, 8).text());
}

TEST_CASE(
    "a thousand problems: the solution is a program that passes its own tests, of at most 63 "
    "tokens") {
  std::map<std::string, int> families;
  for (const ProgramProblem& problem : make_program_problems(1, 1000)) {
    CAPTURE(problem.answer);
    ++families[problem.family];
    const Program program = Program::parse(problem.answer);
    REQUIRE_MESSAGE(program.ok(), program.error());
    const std::vector<ProgramTest> tests = make_program_tests(problem.answer, 20);
    REQUIRE(tests.size() == 20);
    CHECK(passes(program, tests));
    CHECK(make_program_tests(problem.answer, 20)[19].arguments == tests[19].arguments);
    for (const ProgramTest& test : tests)
      CHECK(test.arguments.size() == program.parameters("f").size());
    const auto words = 1 + std::count(problem.answer.begin(), problem.answer.end(), ' ');
    CHECK(words >= 15);
    CHECK(words <= 63);
    CHECK(problem.question.back() == '.');
    CHECK((problem.question[0] >= 'A' && problem.question[0] <= 'Z'));
    CHECK(problem.question.find("  ") == std::string::npos);
    CHECK(problem.answer.find("  ") == std::string::npos);
  }
  CHECK(families.size() == 10);
  for (const auto& [family, count] : families) CHECK_MESSAGE(count > 50, family);
}

TEST_CASE("most of ten thousand problems differ, and one sentence asks for one function") {
  std::map<std::string, std::string> answers;
  std::set<std::string> distinct;
  for (const ProgramProblem& problem : make_program_problems(1, 10000)) {
    distinct.insert(problem.answer);
    CHECK(answers.emplace(problem.question, problem.answer).first->second == problem.answer);
  }
  CHECK(distinct.size() > 8000);
}

TEST_CASE("no problem of one split is a problem of another") {
  std::set<std::string> train, questions;
  for (const ProgramProblem& problem : make_program_problems(1, 5000)) {
    CHECK(program_split_of(problem.answer) == ProgramSplit::train);
    train.insert(problem.answer);
    questions.insert(problem.question);
  }
  for (const ProgramSplit split : {ProgramSplit::tune, ProgramSplit::test})
    for (const ProgramProblem& problem : make_program_problems(2, 300, split)) {
      CHECK(program_split_of(problem.answer) == split);
      CHECK(!train.contains(problem.answer));
      CHECK(!questions.contains(problem.question));
    }
}

TEST_CASE("problems with tests all differ, and no constant passes") {
  std::set<std::string> answers;
  for (const TestedProgram& made : make_tested_programs(1, 300, 20, ProgramSplit::test)) {
    CHECK(answers.insert(made.problem.answer).second);
    CHECK(std::any_of(made.tests.begin(), made.tests.end(), [&](const ProgramTest& test) {
      return !(test.expected == made.tests[0].expected);
    }));
  }
}

// The solutions with one word changed for another of its sort: a constant by one, an operator, a
// variable.
TEST_CASE("tests tell a solution from its neighbours") {
  const std::map<std::string, std::string> neighbours = {
      {"+", "-"},     {"-", "+"},    {"*", "+"},    {">", ">="},  {">=", ">"},
      {"<", "<="},    {"<=", "<"},   {"==", "!="},  {"!=", "=="}, {"max", "min"},
      {"min", "max"}, {"and", "or"}, {"or", "and"}, {"//", "%"},  {"%", "//"}};
  int changed = 0, passed = 0;
  for (const TestedProgram& made : make_tested_programs(3, 200, 40, ProgramSplit::train)) {
    std::istringstream stream(made.problem.answer);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    for (std::size_t at = 0; at < words.size(); ++at) {
      const bool number = std::isdigit(static_cast<unsigned char>(words[at][0]));
      if (!number && !neighbours.contains(words[at])) continue;
      std::string text;
      for (std::size_t i = 0; i < words.size(); ++i)
        text +=
            (i == at ? number ? std::to_string(std::stoi(words[i]) + 1) : neighbours.at(words[i])
                     : words[i]) +
            " ";
      ++changed;
      passed += passes(Program::parse(text), made.tests);
    }
  }
  INFO(passed << " of " << changed << " changed solutions pass");
  CHECK(changed > 500);
  CHECK(passed <
        changed / 10);  // Many of these are the same function, as >= is for > where max decides.
}

TEST_CASE("a correct program of other words passes, a wrong one and one that does not end fail") {
  const std::string reference =
      "def f ( xs ) : t = 0 for x in xs : if x > 3 : t = t + x end end return t end";
  const std::vector<ProgramTest> tests = make_program_tests(reference, 20);
  const auto right = [&](const std::string& text) { return passes(Program::parse(text), tests); };
  CHECK(right(reference));
  CHECK(
      right("def f ( xs ) : if len ( xs ) == 0 : return 0 end r = [ ] for y in xs : if not y <= 3 "
            ": r = r + [ y ] end end return sum ( r ) end"));
  CHECK_FALSE(
      right("def f ( xs ) : t = 0 for x in xs : if x >= 3 : t = t + x end end return t end"));
  CHECK_FALSE(right("def f ( xs ) : while 1 : end end"));
  CHECK_FALSE(right("def g ( xs ) : return 0 end"));
  CHECK_FALSE(right("def f ( ) : return 0 end"));
  CHECK_FALSE(right("no program"));
}

std::unique_ptr<Task> programs_of(const std::string& options) {
  Registries registries;
  register_task_programs(registries);
  Diagnostics diagnostics;
  const Config config = Config::parse("[task.programs]\n" + options, "test.ini", diagnostics);
  const auto bound = registries.tasks.find("programs")->bind(config, "task.programs", diagnostics);
  diagnostics.raise();
  return bound.make();
}

TEST_CASE("task programs: the answer up to the first <sep> counts, by what it does") {
  const Words words;
  const auto task = programs_of("count = 20\n");
  task->load(&words);
  REQUIRE(task->size() == 20);
  for (int index = 0; index < task->size(); ++index) {
    const Prompt prompt = task->prompt(index);
    CHECK(prompt.id.starts_with("programs-test-" + std::to_string(index) + "-"));
    CHECK(prompt.length == static_cast<int>(prompt.given.size()) + 64);
    CHECK(prompt.given[0] == std::pair<std::int32_t, Token>{0, 1});
    const auto scored = [&](const std::string& answer, const std::string& behind) {
      Canvas canvas(prompt.length, prompt.given);
      std::vector<Token> tokens = words.encode(answer);
      tokens.push_back(words.separator());
      for (Token token : words.encode(behind)) tokens.push_back(token);
      auto position = static_cast<std::int32_t>(prompt.given.size());
      for (Token token : tokens)
        if (position < prompt.length) canvas.commit(position++, token);
      CHECK(task->text(prompt, canvas) == answer);
      std::map<std::string, double> scores;
      for (const Score& score : task->score(prompt, canvas)) scores[score.name] = score.value;
      REQUIRE(scores.size() == 2);
      return std::pair(scores.at("correct"), scores.at("parses"));
    };
    CHECK(scored(prompt.text, "") == std::pair(1.0, 1.0));
    CHECK(scored(prompt.text, "and noise") == std::pair(1.0, 1.0));
    CHECK(scored("def f ( ) : return 7 end", "") == std::pair(0.0, 1.0));
    CHECK(scored("and noise", "") == std::pair(0.0, 0.0));
    CHECK(scored("", prompt.text) == std::pair(0.0, 0.0));
  }
}

TEST_CASE("task programs: what cannot be decoded is refused") {
  const Words words;
  CHECK_THROWS_WITH_AS(programs_of("")->load(nullptr),
                       "task 'programs' decodes text, but the model has no tokenizer", ConfigError);
  const auto narrow = programs_of("answer_tokens = 20\n");
  narrow->load(&words);
  CHECK_THROWS_AS(narrow->digest(), ConfigError);
  const auto test = programs_of("count = 3\n"), tune = programs_of("count = 3\nsplit = tune\n");
  test->load(&words);
  tune->load(&words);
  CHECK(test->digest() != tune->digest());
}

}  // namespace
}  // namespace draftlab
