// Repeats the order in which the authors of papers chose their questions.
#pragma once

#include <cstdint>
#include <vector>

namespace draftlab {

// Returns 0 to total - 1 as Python's random.Random(seed).shuffle leaves them.
std::vector<int> python_shuffle(int total, std::uint32_t seed);

}  // namespace draftlab
