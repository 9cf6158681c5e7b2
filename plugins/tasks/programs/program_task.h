// What the tasks that ask for programs share: which problems there are, and what a written program
// scores.
#pragma once

#include <string>
#include <vector>

#include "core/config/options.h"
#include "plugins/tasks/listed_task.h"
#include "plugins/tasks/programs/program_tests.h"

namespace draftlab {

struct ProgramTaskOptions {
  ProgramSplit split = ProgramSplit::test;
  std::int64_t count = 1000, seed = 1, tests = 40, steps = 20000, elements = 20000;
  bool begin = true;
  void declare(OptionSet& set);

  TestedPrograms problems() const;
  // Scores `correct`, 1 where the program passes the tests of the reference solution, and `parses`,
  // 1 where it is a program.
  std::vector<Score> scores(const std::string& program, const std::string& reference) const;
};

}  // namespace draftlab
