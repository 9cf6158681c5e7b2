// Makes problems from a seed: each is a sentence that describes a function, and a reference
// solution in the small language (program_language.h). data/README.md describes the families.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace draftlab {

// A problem belongs to one split by a hash of its solution, so neither a function nor a sentence
// that asks for it is in two splits.
enum class ProgramSplit { train, tune, test };
constexpr std::array<std::string_view, 3> words(ProgramSplit) { return {"train", "tune", "test"}; }
// Throws a Fault for any other name.

struct ProgramProblem {
  // A question such as "Add up the numbers in xs that are odd, each squared, then halve it."
  std::string question;
  // An answer such as "def f ( xs ) : t = 0 for x in xs : ... end return t // 2 end".
  std::string answer;
  // The part of the generator that made the problem.
  std::string family;
  // Returns a training document; its first part ends where the answer begins.
  std::string text() const { return question + " " + answer; }
};

// Makes problem `index` of a split. It depends on nothing but its arguments. Two indices may give
// one problem.
ProgramProblem make_program_problem(std::uint64_t seed, std::int64_t index,
                                    ProgramSplit split = ProgramSplit::train);
std::vector<ProgramProblem> make_program_problems(std::uint64_t seed, std::int64_t count,
                                                  ProgramSplit split = ProgramSplit::train);
ProgramSplit program_split_of(const std::string& answer);

}  // namespace draftlab
