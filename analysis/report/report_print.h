// A report, written down.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "analysis/report/report.h"

namespace draftlab {

enum class ReportFormat { markdown, csv, latex, json };
constexpr std::array<std::string_view, 4> words(ReportFormat) {
  return {"markdown", "csv", "latex", "json"};
}

// Markdown and LaTeX: the table with findings and notes. CSV: one line a group and metric, every
// number in full, no notes. JSON: all of it.
std::string print(const Report& report, ReportFormat format);

}  // namespace draftlab
