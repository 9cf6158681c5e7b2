// May times be compared? The one rule that run, sweep, report, plot and the page ask.
#pragma once

#include <set>
#include <string>

#include "analysis/frame.h"

namespace draftlab {

// Why times that were measured in these files of the frame say nothing about one another; empty
// where they may be compared.
std::string times_refused(const Frame& frame, const std::set<int>& files);
// The same of all files whose samples count.
std::string times_refused(const Frame& frame);

// The sentence that stands below a table or a figure whose times are not compared.
std::string times_note(const std::string& reason);

}  // namespace draftlab
