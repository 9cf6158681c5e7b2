// The order in which others chose their questions.
#pragma once

#include <cstdint>
#include <vector>

namespace draftlab {

// 0 to total - 1 as Python's random.Random(seed).shuffle leaves them.
std::vector<int> python_shuffle(int total, std::uint32_t seed);

}  // namespace draftlab
