// Divides generated problems, by a hash of their text, into those to train on, to tune on and to
// test on.
#pragma once

#include <cstdint>
#include <string>

namespace draftlab {

enum class ProblemSplit : std::uint32_t { train, tune, test };
ProblemSplit problem_split_named(const std::string& name);
// The splits get 14, 1 and 1 in 16 problems, by a hash of the question: no question of one split
// can occur in another, whatever the seed.
ProblemSplit problem_split_of(const std::string& question);

}  // namespace draftlab
