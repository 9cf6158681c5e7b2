// Writes a sweep as one HTML file that needs neither server nor network: the table of a report, its
// trade-offs, and every trajectory.
#pragma once

#include <string>

#include "analysis/report/report.h"

namespace draftlab {

struct PageOptions {
  // The page shows the trajectories of the first so many prompts.
  int prompts = 200;
};

// Returns the text of the file.
std::string html_page(const Frame& frame, const Report& report, const PageOptions& options = {});

}  // namespace draftlab
