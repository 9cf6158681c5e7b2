// Makes tests of a problem from what its reference solution returns.
#pragma once

#include <cstdint>
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

// `count` problems that all differ, in the order of their indices, with `tests` tests each.
// Problems whose tests all expect one value are passed over. It is a Fault when there are not so
// many.
struct TestedProgram {
  ProgramProblem problem;
  std::vector<ProgramTest> tests;
};
std::vector<TestedProgram> make_tested_programs(std::uint64_t seed, std::int64_t count, int tests,
                                                ProgramSplit split);

// Says whether the program's `f` returns what every test expects, each run within the limits.
bool passes(const Program& program, const std::vector<ProgramTest>& tests,
            const ProgramLimits& limits = {});

}  // namespace draftlab
