// The rule that says whether times may be compared. The commands run, sweep, report, plot and the
// page all ask it.
#pragma once

#include <set>
#include <string>

#include "analysis/frame/frame.h"

namespace draftlab {

// Returns why times that were measured in these files of the frame say nothing about one another,
// and "" where they may be compared.
std::string times_refused(const Frame& frame, const std::set<int>& files);
// Returns the same for all files whose samples count.
std::string times_refused(const Frame& frame);

// Returns the sentence that stands below a table or a figure whose times are not compared.
std::string times_note(const std::string& reason);
// Returns the sentence that says how many samples were decoded side by side, and "" where each was
// decoded alone.
std::string side_by_side_note(const Frame& frame);

}  // namespace draftlab
