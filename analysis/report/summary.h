// The table that `run` prints: what each arm cost, and what it was worth, against the first.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/report_options.h"
#include "core/trace/rows.h"

namespace draftlab {

// Plain aligned text, at most 120 columns. Arms that decoded the same prompts are compared with the
// first among them, paired by prompt and sample. Seconds that were not measured (batch > 1) are
// printed as `-`.
std::string summary(const std::vector<RunRow>& runs, const std::vector<SampleRow>& samples,
                    const ReportOptions& options);

}  // namespace draftlab
