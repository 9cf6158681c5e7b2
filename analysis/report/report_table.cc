#include "analysis/report/report_table.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/report/words.h"
#include "core/base/error.h"
#include "core/base/table.h"

namespace draftlab {
namespace {

using Compare = Metric::Compare;
using Cell = ReportTable::Cell;

std::string plus(double value, int digits) {
  return std::isnan(value) ? "-" : (value < 0 ? "" : "+") + fixed(value, digits);
}

std::string with_interval(const Estimate& estimate, int digits, bool sign,
                          const std::string& unit = "") {
  const auto number = [&](double value) {
    return sign ? plus(value, digits) : fixed(value, digits);
  };
  if (std::isnan(estimate.value)) return "-";
  std::string text = number(estimate.value) + unit;
  if (!std::isnan(estimate.interval.low))
    text += " [" + number(estimate.interval.low) + ", " + number(estimate.interval.high) + "]";
  return text;
}

std::string p_text(double p) {
  return std::isnan(p) ? "" : p < 0.001 ? "p < 0.001" : "p = " + fixed(p, 3);
}

std::string comparison(const ReportCell& cell, const Metric& quantity) {
  if (!cell.versus) return quantity.compare == Compare::difference ? "0" : "1";
  const Versus& versus = *cell.versus;
  if (!versus.refused.empty()) return "-";
  const std::string star = !std::isnan(versus.p_holm) && versus.p_holm < 0.05 ? "*" : "";
  if (quantity.compare != Compare::difference)
    return with_interval(versus.ratio, 2, false, "x") + star;
  const std::string p = p_text(versus.p_holm);
  return with_interval(versus.difference, quantity.digits, true) + (p.empty() ? "" : " " + p) +
         star;
}

std::string comparison_title(const Metric& quantity) {
  switch (quantity.compare) {
    case Compare::cost: return "fewer " + quantity.title;
    case Compare::rate: return "more " + quantity.title;
    case Compare::difference: return "difference";
  }
  return "";
}

bool compared(const Report& report, const Metric& quantity) {
  return std::any_of(report.groups.begin(), report.groups.end(), [&](const Report::Group& group) {
    const auto& versus = group.cell(quantity).versus;
    return versus && versus->refused.empty();
  });
}

const Metric* found(const Report& report, const std::string& name) {
  for (const Metric& quantity : report.quantities)
    if (quantity.name == name) return &quantity;
  return nullptr;
}

std::string key_text(const std::string& key, const Report& report, Headings headings) {
  return headings == Headings::words ? key_words(key, report.by) : key;
}

std::string title_text(const Metric& quantity, Headings headings) {
  return headings == Headings::words ? title_words(quantity) : quantity.title;
}

// The best value of some groups in a metric; not a number where neither end is better, all are
// alike, fewer than two have a value, or they are compared with several baselines.
double best_of(const std::vector<const Report::Group*>& groups, const Metric& quantity) {
  double best = kNotMeasured, worst = kNotMeasured;
  std::set<int> baselines;
  for (const Report::Group* group : groups) {
    const double value = group->cell(quantity).value.value;
    if (std::isnan(value)) continue;
    baselines.insert(group->baseline);
    if (std::isnan(best) || quantity.better * (value - best) > 0) best = value;
    if (std::isnan(worst) || quantity.better * (value - worst) < 0) worst = value;
  }
  return quantity.better == 0 || best == worst || baselines.size() > 1 ? kNotMeasured : best;
}

// "1440", or "720 to 1440" where metrics rest on different numbers of samples.
std::string samples_text(const Report::Group& group) {
  int least = group.samples, most = 0;
  for (const auto& [metric, cell] : group.cells) {
    if (cell.samples == 0) continue;
    least = std::min(least, cell.samples);
    most = std::max(most, cell.samples);
  }
  if (most == 0) return std::to_string(group.samples);
  return (least < most ? std::to_string(least) + " to " : "") + std::to_string(most);
}

// Rows are groups, columns metrics.
ReportTable flat(const Report& report, Headings headings) {
  ReportTable table;
  table.keys = std::max<std::size_t>(1, report.by.size());
  if (report.by.empty()) table.header.push_back({"arm"});
  for (const std::string& key : report.by)
    table.header.push_back({key_text(key, report, headings)});
  std::vector<const Report::Group*> all;
  for (const Report::Group& group : report.groups) {
    all.push_back(&group);
    std::vector<Cell>& row = table.rows.emplace_back();
    for (const std::string& key : group.keys) row.push_back({key.empty() ? "-" : key});
  }
  for (const Metric& quantity : report.quantities) {
    const bool timed = quantity.timing && !report.times_refused.empty();
    const double best = timed ? kNotMeasured : best_of(all, quantity);
    const bool versus = compared(report, quantity);
    table.header.push_back({title_text(quantity, headings)});
    if (versus) table.header.push_back({comparison_title(quantity)});
    for (std::size_t g = 0; g < all.size(); ++g) {
      const ReportCell& cell = all[g]->cell(quantity);
      table.rows[g].push_back(
          {with_interval(cell.value, quantity.digits, false), cell.value.value == best});
      if (versus) table.rows[g].push_back({comparison(cell, quantity)});
    }
  }
  table.header.push_back({"samples"});
  for (std::size_t g = 0; g < all.size(); ++g) table.rows[g].push_back({samples_text(*all[g])});
  if (report.findings.empty()) return table;
  table.header.push_back({"verdict"});
  for (std::size_t g = 0; g < all.size(); ++g)
    table.rows[g].push_back({report.found(static_cast<int>(g))});
  return table;
}

// Where the groups of a report stand in a table with a pivot.
struct Grid {
  std::size_t at;                              // The place of the pivot among the keys.
  std::vector<std::string> columns;            // The values of the pivot.
  std::vector<std::vector<std::string>> rows;  // The values of the other keys.
  const Report::Group* apart = nullptr;        // A baseline that has a row and a column of its own.

  explicit Grid(const Report& report) {
    const auto found = std::find(report.by.begin(), report.by.end(), report.pivot);
    at = static_cast<std::size_t>(found - report.by.begin());
    for (const Report::Group& group : report.groups)
      if (stands_apart(report, group)) apart = &group;
    for (const Report::Group& group : report.groups) {
      if (&group == apart) continue;
      if (std::find(columns.begin(), columns.end(), group.keys[at]) == columns.end())
        columns.push_back(group.keys[at]);
      const auto row = row_of(group);
      if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
    }
    // Numbers ascend, whichever a baseline has; words stand as the config names them.
    const auto is_number = [](const std::string& text) { return number_of(text).has_value(); };
    if (std::all_of(columns.begin(), columns.end(), is_number))
      std::stable_sort(columns.begin(), columns.end(),
                       [](const auto& a, const auto& b) { return *number_of(a) < *number_of(b); });
  }
  std::vector<std::string> row_of(const Report::Group& group) const {
    std::vector<std::string> row = group.keys;
    row.erase(row.begin() + static_cast<std::ptrdiff_t>(at));
    return row;
  }
  bool stands_apart(const Report& report, const Report::Group& group) const {
    if (report.groups.size() < 2 || &report.groups[group.baseline] != &group) return false;
    return std::none_of(report.groups.begin(), report.groups.end(), [&](const auto& other) {
      return &other != &group &&
             (row_of(other) == row_of(group) || other.keys[at] == group.keys[at]);
    });
  }
  const Report::Group* find(const Report& report, const std::vector<std::string>& row,
                            const std::string& column) const {
    for (const Report::Group& group : report.groups)
      if (&group != apart && group.keys[at] == column && row_of(group) == row) return &group;
    return nullptr;
  }
};

std::string star(const Versus& versus) { return versus.p_holm < 0.05 ? "*" : ""; }

// "0.900 (3.52x)": a value, and how many times the cost is less, or the rate more.
std::string with_speedup(const Report::Group& group, const Metric& quantity,
                         const Metric& speedup) {
  const std::string value = fixed(group.cell(quantity).value.value, quantity.digits);
  const auto& versus = group.cell(speedup).versus;
  if (!versus) return value + " (1x)";
  return value + " (" +
         (std::isnan(versus->ratio.value) ? "-" : fixed(versus->ratio.value, 2) + "x") + ")";
}

// "40.0 [39.1, 40.8] (1.50x*)": a value with its interval, and its own factor or difference.
std::string with_comparison(const Report::Group& group, const Metric& quantity) {
  const ReportCell& cell = group.cell(quantity);
  std::string text = with_interval(cell.value, quantity.digits, false);
  if (!cell.versus || !cell.versus->refused.empty()) return text;
  const Versus& versus = *cell.versus;
  if (quantity.compare != Compare::difference && std::isnan(versus.ratio.value))
    return text + " (-)";
  return text + " (" +
         (quantity.compare != Compare::difference
              ? fixed(versus.ratio.value, 2) + "x"
              : plus(versus.difference.value, quantity.digits)) +
         star(versus) + ")";
}

ReportTable pivoted(const Report& report, const Metric& quantity, const Metric* speedup,
                    Headings headings) {
  const Grid grid(report);
  ReportTable table;
  table.title = title_text(quantity, headings) + ": " + quantity.doc;
  table.keys = std::max<std::size_t>(1, report.by.size() - 1);
  for (std::size_t k = 0; k < report.by.size(); ++k)
    if (k != grid.at) table.header.push_back({key_text(report.by[k], report, headings)});
  if (table.header.empty()) table.header.push_back({""});
  for (const std::string& column : grid.columns) {
    const std::string value = column.empty() ? "-" : column;
    table.header.push_back({headings == Headings::words
                                ? value_words(report.pivot, column, report.by)
                                : report.pivot + "=" + value});
  }
  for (const auto& row : grid.rows) {
    std::vector<Cell>& line = table.rows.emplace_back();
    for (const std::string& key : row) line.push_back({key.empty() ? "-" : key});
    if (line.empty()) line.push_back({title_text(quantity, headings)});
  }
  for (const std::string& column : grid.columns) {
    std::vector<const Report::Group*> all, measured;
    for (const auto& row : grid.rows) all.push_back(grid.find(report, row, column));
    for (const Report::Group* group : all)
      if (group) measured.push_back(group);
    const double best = best_of(measured, quantity);
    for (std::size_t r = 0; r < all.size(); ++r) {
      const std::string text = !all[r]   ? "-"
                               : speedup ? with_speedup(*all[r], quantity, *speedup)
                                         : with_comparison(*all[r], quantity);
      table.rows[r].push_back({text, all[r] && all[r]->cell(quantity).value.value == best});
    }
  }
  if (speedup)
    table.notes.push_back("In brackets: " + comparison_title(*speedup) + ", how many times" +
                          (grid.apart ? " against " + grid.apart->name : "") + ".");
  if (grid.apart)
    table.notes.push_back(
        grid.apart->name + ", with which all are compared: " + title_text(quantity, headings) +
        " " + with_interval(grid.apart->cell(quantity).value, quantity.digits, false) +
        (speedup ? ", " + title_text(*speedup, headings) + " " +
                       with_interval(grid.apart->cell(*speedup).value, speedup->digits, false)
                 : "") +
        ".");
  return table;
}

// The metrics that have a table of their own.
std::vector<const Metric*> shown(const Report& report) {
  std::vector<const Metric*> list;
  for (const Metric& quantity : report.quantities)
    if (quantity.name != report.speedup || report.quantities.size() == 1) list.push_back(&quantity);
  return list;
}

}  // namespace

std::vector<ReportTable> report_tables(const Report& report, Headings headings) {
  if (report.pivot.empty()) return {flat(report, headings)};
  std::vector<ReportTable> tables;
  for (const Metric* quantity : shown(report))
    tables.push_back(pivoted(report, *quantity, found(report, report.speedup), headings));
  return tables;
}

std::string full_number(double value) {
  if (std::isnan(value)) return "";
  char text[40];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

std::string csv_text(const std::string& given) {
  // A spreadsheet takes what begins with one of these for a formula, unless it is a number.
  const bool formula = !given.empty() && std::string("=+-@").find(given[0]) != std::string::npos &&
                       !number_of(given);
  const std::string text = (formula ? "'" : "") + given;
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string result = "\"";
  for (char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

std::string pivoted_csv(const Report& report) {
  const Grid grid(report);
  const Metric* const speedup = found(report, report.speedup);
  std::string text;
  for (std::size_t k = 0; k < report.by.size(); ++k)
    if (k != grid.at) text += csv_text(report.by[k]) + ",";
  text += "metric";
  for (const std::string& column : grid.columns) {
    const std::string name = report.pivot + "=" + column;
    text += "," + csv_text(name);
    if (speedup) text += "," + csv_text(comparison_title(*speedup) + ", " + name);
  }
  text += "\n";
  for (const auto& row : grid.rows) {
    for (const Metric* quantity : shown(report)) {
      for (const std::string& key : row) text += csv_text(key) + ",";
      text += quantity->name;
      for (const std::string& column : grid.columns) {
        const Report::Group* const group = grid.find(report, row, column);
        text += "," + (group ? full_number(group->cell(*quantity).value.value) : "");
        if (!speedup) continue;
        const auto* const versus = group ? &group->cell(*speedup).versus : nullptr;
        text += "," + (!versus    ? std::string()
                       : !*versus ? "1"
                                  : full_number((*versus)->ratio.value));
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace draftlab
