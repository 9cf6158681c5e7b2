// Arms chosen on some prompts and reported on others: the best of twenty equal arms beats its equal
// by four points where it was chosen, and by nothing elsewhere.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace draftlab {

// The samples of `frame` that may be reported: those of the chosen arms (of each group one, and the
// baseline's), on prompts that chose nothing. Adds to `notes` what was chosen. DataError when a
// prompt chose and is reported as well.
Frame chosen(const Frame& frame, const ReportRequest& request, std::vector<std::string>& notes);

}  // namespace draftlab
