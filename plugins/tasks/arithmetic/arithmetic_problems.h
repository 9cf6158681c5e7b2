// Makes worded grade-school problems of one to three small steps, worked as GSM8K works its own:
// the steps, then `#### n`.
#pragma once

#include <cstdint>
#include <string>

#include "plugins/tasks/problem_split.h"

namespace draftlab {

struct Problem {
  std::string question;
  // Sentences with one equation each, then "#### n".
  std::string worked;
  int answer = 0;
};

// The problem of an index depends on nothing but seed, index and split.
Problem make_problem(std::uint64_t seed, std::int64_t index, ProblemSplit split);

}  // namespace draftlab
