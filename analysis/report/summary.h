// The tables that `run` and `sweep` print at their end: what each arm cost, and what it was worth.
#pragma once

#include <string>

#include "analysis/frame/frame.h"

namespace draftlab {

// Plain aligned text, at most 120 columns. The numbers, the comparisons and the refusals are those
// of make_report: arms that differ in their seed alone are one row, each arm is compared with the
// baseline that decoded its prompts, and every metric with a margin is judged.
std::string summary(const Frame& frame);

}  // namespace draftlab
