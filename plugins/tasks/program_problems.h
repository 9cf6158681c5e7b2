// Problems made from a seed: a sentence that describes a function, and a reference solution in the small language
// (program_language.h), with tests made from what the reference returns. data/README.md describes the families.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/tasks/program_language.h"

namespace draftlab {

// A problem belongs to one split by a hash of its solution, so neither a function nor a sentence that asks for it is in two.
enum class ProgramSplit { train, tune, test };
ProgramSplit program_split_named(const std::string& name);  // Fault for any other name

struct ProgramProblem {
  std::string question;  // "Add up the numbers in xs that are odd, each squared, then halve it."
  std::string answer;    // "def f ( xs ) : t = 0 for x in xs : ... end return t // 2 end"
  std::string family;    // which part of the generator made it
  std::string text() const { return question + " " + answer; }  // a training document; its first part ends where the answer begins
};

// Problem `index` of a split. Depends on nothing but its arguments. Two indices may give one problem.
ProgramProblem make_program_problem(std::uint64_t seed, std::int64_t index, ProgramSplit split = ProgramSplit::train);
std::vector<ProgramProblem> make_program_problems(std::uint64_t seed, std::int64_t count, ProgramSplit split = ProgramSplit::train);
ProgramSplit program_split_of(const std::string& answer);

struct ProgramTest {
  std::vector<ProgramValue> arguments;
  ProgramValue expected;
};

// `count` calls of the reference solution that return something; the same for the same solution. Arguments are often the
// solution's own constants or beside them, where `>` and `>=` differ.
std::vector<ProgramTest> make_program_tests(const std::string& answer, int count);

// `count` problems that all differ, in the order of their indices, with `tests` tests each. Those whose tests all expect one
// value are passed over. Fault when there are not so many.
struct TestedProgram {
  ProgramProblem problem;
  std::vector<ProgramTest> tests;
};
std::vector<TestedProgram> make_tested_programs(std::uint64_t seed, std::int64_t count, int tests, ProgramSplit split);

// Whether the program's `f` returns what every test expects, each run within the limits.
bool passes(const Program& program, const std::vector<ProgramTest>& tests, const ProgramLimits& limits = {});

}  // namespace draftlab
