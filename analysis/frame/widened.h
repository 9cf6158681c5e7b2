// What tables and figures say of a target that was widened (`draftlab widen`): it computes the
// function of a smaller checkpoint at the cost of its own size.
#pragma once

#include <string>

#include "analysis/frame/frame.h"

namespace draftlab {

// "widened from 1.63M: same function, cost of 30M", for each such target of the arms whose samples
// count, and otherwise "".
std::string widened_note(const Frame& frame);

}  // namespace draftlab
