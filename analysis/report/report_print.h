// A report, written down.
#pragma once

#include <string>

#include "analysis/report/report.h"

namespace draftlab {

enum class ReportFormat { markdown, csv, latex, json };
ReportFormat report_format_of(const std::string& name);  // UsageError

// Markdown and LaTeX: the table with findings and notes. CSV: one line a group and metric, every
// number in full, no notes. JSON: all of it.
std::string print(const Report& report, ReportFormat format);

}  // namespace draftlab
