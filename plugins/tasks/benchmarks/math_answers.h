// Compares answers to MATH's problems as Hendrycks et al. (2021) do: text against text, once both
// are written plainly.
#pragma once

#include <optional>
#include <string>

namespace draftlab {

// Returns what stands in the last \boxed{} or \fbox{}, or else what follows the last "final answer
// is". Returns nothing where neither is there.
std::optional<std::string> math_answer(const std::string& text);

// Returns the same text without spaces, units, degrees, dollars, percents, \left, \right and the
// sizes of fractions; 0.5, 1/2 and \frac12 become \frac{1}{2}, \sqrt3 becomes \sqrt{3}, .5 becomes
// 0.5, and `x=` at the beginning is dropped.
std::string plain_math(std::string text);

}  // namespace draftlab
