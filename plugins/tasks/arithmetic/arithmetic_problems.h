// Worded grade-school problems of one to three small steps, worked as GSM8K works its own: the
// steps, then `#### n`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace draftlab {

enum class ProblemSplit : std::uint32_t { train, tune, test };
ProblemSplit problem_split_named(const std::string& name);
// 14, 1 and 1 in 16, by a hash of the question: no question of one split can occur in another,
// whatever the seed.
ProblemSplit problem_split_of(const std::string& question);

struct Problem {
  std::string question;
  std::string worked;  // sentences with one equation each, then "#### n"
  int answer = 0;
};

// The problem of an index depends on nothing but seed, index and split.
Problem make_problem(std::uint64_t seed, std::int64_t index, ProblemSplit split);

// The number that a worked answer ends in, spelled plainly: what follows the last `####`, else what
// stands in the last \boxed{}; without thousands separators, currency, trailing zeros of a
// fraction. Nothing where neither is followed by a number.
std::optional<std::string> final_number(const std::string& text);

}  // namespace draftlab
