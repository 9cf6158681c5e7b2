// The number that a worked answer to a problem ends in.
#pragma once

#include <optional>
#include <string>

namespace draftlab {

// The number that a worked answer ends in, spelled plainly: what follows the last `####`, else what
// stands in the last \boxed{}; without thousands separators, currency, trailing zeros of a
// fraction. Nothing where neither is followed by a number.
std::optional<std::string> final_number(const std::string& text);

}  // namespace draftlab
