// How many samples are read at a time where all of a trace are walked.
#pragma once

#include <cstdint>

namespace draftlab {

inline constexpr std::int64_t kSamplesInMemory = 64;

}  // namespace draftlab
