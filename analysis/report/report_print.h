// A report, written down.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "analysis/report/report.h"

namespace draftlab {

enum class ReportFormat { automatic, markdown, csv, latex, json, text };
constexpr std::array<std::string_view, 6> words(ReportFormat) {
  return {"auto", "markdown", "csv", "latex", "json", "text"};
}

// Markdown and LaTeX: the table with findings and notes. CSV: one line a group and metric, every
// number in full, no notes. JSON: all of it. Text: aligned columns, no wider than `width`, with
// findings and notes. `automatic` is markdown.
std::string print(const Report& report, ReportFormat format, std::size_t width = 100);

}  // namespace draftlab
