#include "plugins/tasks/programs/program_tests.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

#include "core/base/error.h"
#include "core/prob/chance.h"
#include "plugins/tasks/choices.h"

namespace draftlab {
namespace {

class Arguments {
 public:
  explicit Arguments(const std::string& answer)
      : choices_(stable_hash(answer), 0, 0, 0),
        names_(Program::parse(answer).parameters("f")),
        digits_(answer.find("% 10") != std::string::npos) {
    std::istringstream words(answer);
    for (std::string word; words >> word;)
      if (std::isdigit(static_cast<unsigned char>(word[0]))) constants_.push_back(std::stoi(word));
  }
  std::vector<ProgramValue> next() {
    near_ = constants_;
    // All lists of a call have this length.
    const int length = choices_.between(0, choices_.below(3) == 0 ? 2 : 6);
    std::vector<ProgramValue> values;
    for (const std::string& name : names_) {
      if (name.size() == 1) {
        values.push_back(ProgramValue::of(
            choices_.below(digits_ ? 2 : 12) == 0 ? choices_.between(100, 999) : integer()));
      } else {
        ProgramList list;
        for (int i = 0; i < length; ++i) list.push_back(integer());
        values.push_back(ProgramValue::of(std::move(list)));
      }
    }
    return values;
  }

 private:
  // Often returns a constant of the solution or another argument of the call, or a neighbour of
  // one.
  int integer() {
    const bool free = near_.empty() || choices_.below(2) == 0;
    near_.push_back(free ? choices_.between(-9, 20) : choices_.of(near_) + choices_.between(-1, 1));
    return near_.back();
  }
  Choices choices_;
  std::vector<std::string> names_;
  // Whether the solution takes a number apart into its digits.
  bool digits_;
  std::vector<int> constants_, near_;
};

}  // namespace

std::vector<TestedProgram> make_tested_programs(std::uint64_t seed, std::int64_t count, int tests,
                                                ProgramSplit split) {
  TestedPrograms programs(seed, tests, split);
  std::vector<TestedProgram> made;
  while (static_cast<std::int64_t>(made.size()) < count) made.push_back(programs.next());
  return made;
}

TestedProgram TestedPrograms::next() {
  for (int tries = 0; tries < 10000; ++tries) {
    TestedProgram one{make_program_problem(seed_, index_++, split_), {}};
    if (!seen_.insert(one.problem.answer).second) continue;
    one.tests = make_program_tests(one.problem.answer, tests_);
    const auto same = [&](const ProgramTest& test) {
      return test.expected == one.tests[0].expected;
    };
    if (!std::all_of(one.tests.begin(), one.tests.end(), same)) return one;
  }
  throw Fault("the generator of programs yields {} distinct problems and no more", seen_.size());
}

std::vector<ProgramTest> make_program_tests(const std::string& answer, int count) {
  const Program reference = Program::parse(answer);
  Arguments arguments(answer);
  std::vector<ProgramTest> tests;
  for (int tries = 0; static_cast<int>(tests.size()) < count; ++tries) {
    if (tries > 50 * count) throw Fault("the solution '{}' hardly ever returns anything", answer);
    std::vector<ProgramValue> given = arguments.next();
    ProgramOutcome outcome = reference.run("f", given);
    if (outcome.ok()) tests.push_back({std::move(given), std::move(outcome.value)});
  }
  return tests;
}

bool passes(const Program& program, const std::vector<ProgramTest>& tests,
            const ProgramLimits& limits) {
  return std::all_of(tests.begin(), tests.end(), [&](const ProgramTest& test) {
    const ProgramOutcome outcome = program.run("f", test.arguments, limits);
    return outcome.ok() && outcome.value == test.expected;
  });
}

}  // namespace draftlab
