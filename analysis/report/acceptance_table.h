// Acceptance in the words that other projects use for it.
#pragma once

#include <string>

#include "analysis/report/report.h"
#include "core/metrics/decode_metrics.h"

namespace draftlab {

// A row a group, one column a term; the definitions below.
std::string acceptance_table(const Frame& frame, const ReportRequest& request, Dialect dialect);
// Reads vllm, spec-bench, sglang or own. Throws UsageError for any other name.
Dialect dialect_of(const std::string& name);

}  // namespace draftlab
