// A report as tables of texts, before they are written as markdown, LaTeX or CSV.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace draftlab {

struct ReportTable {
  struct Cell {
    std::string text;
    bool best = false;  // Whether it is the best of its column.
  };
  std::string title;     // What the numbers are; it is empty where the headings say it.
  std::size_t keys = 1;  // How many of the first columns name a row.
  std::vector<Cell> header;
  std::vector<std::vector<Cell>> rows;
  std::vector<std::string> notes = {};
};

// "words" writes headings as words ("block size"), else keys stand as configs spell them.
enum class Headings { keys, words };

// One table; with a pivot, one a metric: rows are the other keys, columns the values of the pivot.
// With a speedup, its factor stands in brackets behind each value, as in the S2D2 paper's Tables 6
// to 10, and a baseline that has a row and a column of its own stands in a note.
std::vector<ReportTable> report_tables(const Report& report, Headings headings);

// A report with a pivot as numbers in full, a line a row and metric.
std::string pivoted_csv(const Report& report);
std::string csv_text(const std::string& text);
std::string full_number(double value);  // Returns "" for NaN.

}  // namespace draftlab
