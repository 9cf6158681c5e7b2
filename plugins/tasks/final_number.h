// Finds the number that a worked answer to a problem ends in.
#pragma once

#include <optional>
#include <string>

namespace draftlab {

// Returns that number, spelled plainly: what follows the last `####`, or else what stands in the
// last \boxed{}, without thousands separators, currency and trailing zeros of a fraction. Returns
// nothing where neither is followed by a number.
std::optional<std::string> final_number(const std::string& text);

}  // namespace draftlab
