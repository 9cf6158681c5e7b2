// Makes tests of a problem from what its reference solution returns.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "plugins/tasks/programs/program_language.h"
#include "plugins/tasks/programs/program_problems.h"

namespace draftlab {

struct ProgramTest {
  std::vector<ProgramValue> arguments;
  ProgramValue expected;
};

// Makes `count` calls of the reference solution that return something; the same solution gets the
// same calls. Arguments are often the solution's own constants or their neighbours, where `>` and
// `>=` differ.
std::vector<ProgramTest> make_program_tests(const std::string& answer, int count);

struct TestedProgram {
  ProgramProblem problem;
  std::vector<ProgramTest> tests;
};

// Problems that all differ, in the order of their indices, with `tests` tests each. Problems whose
// tests all expect one value are passed over.
class TestedPrograms {
 public:
  TestedPrograms(std::uint64_t seed, int tests, ProgramSplit split)
      : seed_(seed), tests_(tests), split_(split) {}
  // It is a Fault when the generator yields no further one.
  TestedProgram next();

 private:
  std::uint64_t seed_;
  int tests_;
  ProgramSplit split_;
  std::int64_t index_ = 0;
  std::set<std::string> seen_;
};
// The first `count` of them.
std::vector<TestedProgram> make_tested_programs(std::uint64_t seed, std::int64_t count, int tests,
                                                ProgramSplit split);

// Says whether the program's `f` returns what every test expects, each run within the limits.
bool passes(const Program& program, const std::vector<ProgramTest>& tests,
            const ProgramLimits& limits = {});

}  // namespace draftlab
