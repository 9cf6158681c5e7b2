// Which of a config's arms a command takes that shows one.
#pragma once

#include <vector>

#include "experiments/arm/loaded_arm.h"

namespace draftlab {

// Returns the index of the first arm that drafts, where one does, and else 0. Where there are
// several arms it says on standard error which one is taken.
std::size_t shown_arm(const std::vector<ComposedArm>& arms);

}  // namespace draftlab
