// Divides generated problems, by a hash of their text, into those to train on, to tune on and to
// test on.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace draftlab {

enum class ProblemSplit : std::uint32_t { train, tune, test };
constexpr std::array<std::string_view, 3> words(ProblemSplit) { return {"train", "tune", "test"}; }
// The splits get 14, 1 and 1 in 16 problems, by a hash of the question: no question of one split
// can occur in another, whatever the seed.
ProblemSplit problem_split_of(const std::string& question);

}  // namespace draftlab
