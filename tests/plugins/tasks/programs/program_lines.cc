#include "plugins/tasks/programs/program_lines.h"

#include <doctest/doctest.h>

#include "plugins/tasks/programs/program_problems.h"

namespace draftlab {
namespace {

using Lines = std::vector<std::string>;

TEST_CASE("a program is laid out in lines as Python would be") {
  const Lines lines = program_lines(
      "def f ( xs , a ) : t = 0 for x in xs : if x == a : t = t + x else : return [ x ] end end "
      "while t > 3 : t = t - 1 end return t end");
  CHECK(lines == Lines{"def f ( xs , a ) :", "t = 0", "for x in xs :", "if x == a :", "t = t + x",
                       "else :", "return [ x ]", "end", "end", "while t > 3 :", "t = t - 1", "end",
                       "return t", "end"});
  CHECK(working_lines(lines) == std::vector<std::size_t>{1, 2, 3, 4, 6, 9, 10, 12});
  CHECK(program_lines("").empty());
}

TEST_CASE("the lines of a generated program are the program, and some of them do something") {
  for (const ProgramProblem& problem : make_program_problems(1, 500)) {
    const Lines lines = program_lines(problem.answer);
    std::string joined;
    for (const std::string& line : lines) joined += (joined.empty() ? "" : " ") + line;
    CHECK(joined == problem.answer);
    CHECK(lines.front().starts_with("def f ("));
    CHECK(lines.back() == "end");
    CHECK(working_lines(lines).size() >= 2);
  }
}

}  // namespace
}  // namespace draftlab
