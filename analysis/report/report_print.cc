#include "analysis/report/report_print.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/table.h"
#include "core/base/error.h"

namespace draftlab {
namespace {

using Compare = Quantity::Compare;
using Cells = std::vector<std::vector<std::string>>;

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

std::string comparison(const ReportCell& cell, const Quantity& quantity) {
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

std::string comparison_title(const Quantity& quantity) {
  switch (quantity.compare) {
    case Compare::cost: return "fewer " + quantity.title;
    case Compare::rate: return "more " + quantity.title;
    case Compare::difference: return "difference";
  }
  return "";
}

bool compared(const Report& report, std::size_t q) {
  return std::any_of(report.groups.begin(), report.groups.end(), [&](const Report::Group& group) {
    return group.cells[q].versus && group.cells[q].versus->refused.empty();
  });
}

// Rows are groups, columns quantities.
Cells flat(const Report& report) {
  Cells cells(1);
  cells[0] = report.by.empty() ? std::vector<std::string>{"arm"} : report.by;
  for (std::size_t q = 0; q < report.quantities.size(); ++q) {
    cells[0].push_back(report.quantities[q].title);
    if (compared(report, q)) cells[0].push_back(comparison_title(report.quantities[q]));
  }
  for (const Report::Group& group : report.groups) {
    std::vector<std::string> row = group.keys;
    for (std::string& key : row)
      if (key.empty()) key = "-";
    for (std::size_t q = 0; q < report.quantities.size(); ++q) {
      row.push_back(with_interval(group.cells[q].value, report.quantities[q].digits, false));
      if (compared(report, q)) row.push_back(comparison(group.cells[q], report.quantities[q]));
    }
    cells.push_back(std::move(row));
  }
  return cells;
}

// Rows are the other keys, columns the values of the pivot; one quantity.
Cells pivoted(const Report& report, std::size_t q) {
  const auto at = static_cast<std::size_t>(
      std::find(report.by.begin(), report.by.end(), report.pivot) - report.by.begin());
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::map<std::pair<std::vector<std::string>, std::string>, std::string> texts;
  for (const Report::Group& group : report.groups) {
    std::vector<std::string> row = group.keys;
    const std::string column = row[at];
    row.erase(row.begin() + static_cast<std::ptrdiff_t>(at));
    if (std::find(columns.begin(), columns.end(), column) == columns.end())
      columns.push_back(column);
    if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
    const ReportCell& cell = group.cells[q];
    std::string text = with_interval(cell.value, report.quantities[q].digits, false);
    if (cell.versus && cell.versus->refused.empty()) {
      const Versus& versus = *cell.versus;
      const bool ratio = report.quantities[q].compare != Compare::difference;
      text += " (" +
              (ratio ? fixed(versus.ratio.value, 2) + "x"
                     : plus(versus.difference.value, report.quantities[q].digits)) +
              (versus.p_holm < 0.05 ? "*)" : ")");
    }
    texts[{row, column}] = text;
  }
  Cells cells(1);
  for (std::size_t k = 0; k < report.by.size(); ++k)
    if (k != at) cells[0].push_back(report.by[k]);
  if (cells[0].empty()) cells[0].push_back("");
  for (const std::string& column : columns)
    cells[0].push_back(report.pivot + "=" + (column.empty() ? "-" : column));
  for (const auto& row : rows) {
    std::vector<std::string> line = row;
    if (line.empty()) line.push_back(report.quantities[q].title);
    for (const std::string& column : columns) {
      const auto found = texts.find({row, column});
      line.push_back(found == texts.end() ? "-" : found->second);
    }
    cells.push_back(std::move(line));
  }
  return cells;
}

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string markdown(const Cells& cells, std::size_t keys) {
  std::vector<std::size_t> widths(cells[0].size(), 3);
  const auto escaped = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
      text.insert(at, "\\");
    return text;
  };
  for (const auto& row : cells)
    for (std::size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], width_of(escaped(row[c])));
  std::string text;
  const auto line = [&](const std::vector<std::string>& row) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string cell = escaped(row[c]), space(widths[c] - width_of(cell), ' ');
      text += "| " + (c < keys ? cell + space : space + cell) + " ";
    }
    text += "|\n";
  };
  line(cells[0]);
  for (std::size_t c = 0; c < cells[0].size(); ++c)
    text += c < keys ? "|" + std::string(widths[c] + 2, '-')
                     : "|" + std::string(widths[c] + 1, '-') + ":";
  text += "|\n";
  for (std::size_t r = 1; r < cells.size(); ++r) line(cells[r]);
  return text;
}

std::string latex_text(const std::string& text) {
  std::string result;
  for (char c : text) {
    if (std::string("&%$#_{}").find(c) != std::string::npos)
      result += '\\', result += c;
    else if (c == '\\')
      result += "\\textbackslash{}";
    else if (c == '~')
      result += "\\textasciitilde{}";
    else if (c == '^')
      result += "\\textasciicircum{}";
    else if (c == '<' || c == '>')
      result += std::string("$") + c + "$";
    else if (c == '*')
      result += "$^{*}$";
    else
      result += c;
  }
  return result;
}

std::string latex(const Cells& cells, std::size_t keys) {
  std::string text = "\\begin{tabular}{" + std::string(keys, 'l') +
                     std::string(cells[0].size() - keys, 'r') + "}\n\\toprule\n";
  for (std::size_t r = 0; r < cells.size(); ++r) {
    for (std::size_t c = 0; c < cells[r].size(); ++c)
      text += (c ? " & " : "") + latex_text(cells[r][c]);
    text += r == 0 ? " \\\\\n\\midrule\n" : " \\\\\n";
  }
  return text + "\\bottomrule\n\\end{tabular}\n";
}

std::string tables(const Report& report, std::string (*format)(const Cells&, std::size_t),
                   const std::string& comment) {
  if (report.pivot.empty()) return format(flat(report), std::max<std::size_t>(1, report.by.size()));
  std::string text;
  for (std::size_t q = 0; q < report.quantities.size(); ++q) {
    text += (q ? "\n" : "") + comment + report.quantities[q].title + ": " +
            report.quantities[q].doc + "\n" + (comment.empty() ? "\n" : "");
    text += format(pivoted(report, q), std::max<std::size_t>(1, report.by.size() - 1));
  }
  return text;
}

std::string remarks(const Report& report, const std::string& lead) {
  std::string text;
  for (const auto* list : {&report.findings, &report.notes}) {
    if (!list->empty()) text += "\n";
    for (const std::string& sentence : *list) text += lead + sentence + "\n";
  }
  return text;
}

std::string full(double value) {
  if (std::isnan(value)) return "";
  char text[40];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string result = "\"";
  for (char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

const char* finding_name(Equivalence::Finding finding) {
  return finding == Equivalence::Finding::equivalent  ? "equivalent"
         : finding == Equivalence::Finding::different ? "different"
                                                      : "undecided";
}

std::string csv(const Report& report) {
  std::string text;
  for (const std::string& key : report.by.empty() ? std::vector<std::string>{"arm"} : report.by)
    text += csv_text(key) + ",";
  text +=
      "metric,unit,value,low,high,prompts,samples,baseline,paired_prompts,factor,factor_low,factor_"
      "high,difference,difference_low,difference_high,p,p_holm,"
      "equivalence,margin,no_worse,refused\n";
  for (const Report::Group& group : report.groups) {
    for (std::size_t q = 0; q < report.quantities.size(); ++q) {
      const ReportCell& cell = group.cells[q];
      for (const std::string& key : group.keys) text += csv_text(key) + ",";
      text += report.quantities[q].name + "," + report.quantities[q].unit + "," +
              full(cell.value.value) + "," + full(cell.value.interval.low) + "," +
              full(cell.value.interval.high) + "," + std::to_string(cell.prompts) + "," +
              std::to_string(cell.samples) + ",";
      if (!cell.versus) {
        text += std::string(13, ',') + "\n";
        continue;
      }
      const Versus& v = *cell.versus;
      text += csv_text(report.groups[group.baseline].name) + "," + std::to_string(v.prompts);
      for (double value :
           {v.ratio.value, v.ratio.interval.low, v.ratio.interval.high, v.difference.value,
            v.difference.interval.low, v.difference.interval.high, v.p, v.p_holm}) {
        text += "," + full(value);
      }
      text += v.equivalence ? std::string(",") + finding_name(v.equivalence->finding) + "," +
                                  full(v.equivalence->margin)
                            : ",,";
      text += v.non_inferiority ? v.non_inferiority->shown ? ",yes" : ",not shown" : ",";
      text += "," + csv_text(v.refused) + "\n";
    }
  }
  return text;
}

nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json estimate(const Estimate& e) {
  return {{"value", number(e.value)},
          {"low", number(e.interval.low)},
          {"high", number(e.interval.high)}};
}

std::string json(const Report& report) {
  using Json = nlohmann::ordered_json;
  Json all{{"by", report.by},
           {"confidence", report.confidence},
           {"metrics", Json::array()},
           {"groups", Json::array()}};
  for (const Quantity& q : report.quantities)
    all["metrics"].push_back({{"name", q.name},
                              {"title", q.title},
                              {"unit", q.unit},
                              {"better", q.better},
                              {"meaning", q.doc}});
  for (const Report::Group& group : report.groups) {
    Json row{{"name", group.name},
             {"keys", Json::object()},
             {"baseline", report.groups[group.baseline].name},
             {"cells", Json::object()}};
    for (std::size_t k = 0; k < report.by.size(); ++k) row["keys"][report.by[k]] = group.keys[k];
    for (std::size_t q = 0; q < report.quantities.size(); ++q) {
      const ReportCell& cell = group.cells[q];
      Json here = estimate(cell.value);
      here["prompts"] = cell.prompts;
      here["samples"] = cell.samples;
      if (cell.versus) {
        const Versus& v = *cell.versus;
        Json versus{{"prompts", v.prompts},
                    {"factor", estimate(v.ratio)},
                    {"difference", estimate(v.difference)},
                    {"p", number(v.p)},
                    {"p_holm", number(v.p_holm)}};
        if (v.equivalence) {
          versus["equivalence"] = {{"finding", finding_name(v.equivalence->finding)},
                                   {"margin", v.equivalence->margin},
                                   {"difference90", estimate(v.equivalence->difference)},
                                   {"prompts_needed", number(v.equivalence->needed)}};
        }
        if (v.non_inferiority) {
          versus["no_worse"] = {{"shown", v.non_inferiority->shown},
                                {"bound", number(v.non_inferiority->bound)},
                                {"prompts_needed", number(v.non_inferiority->needed)}};
        }
        if (!std::isnan(v.needed)) versus["prompts_needed"] = number(v.needed);
        if (!v.refused.empty()) versus["refused"] = v.refused;
        here["versus"] = std::move(versus);
      }
      row["cells"][report.quantities[q].name] = std::move(here);
    }
    all["groups"].push_back(std::move(row));
  }
  all["findings"] = report.findings;
  all["notes"] = report.notes;
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

ReportFormat report_format_of(const std::string& name) {
  const std::map<std::string, ReportFormat> formats = {{"markdown", ReportFormat::markdown},
                                                       {"csv", ReportFormat::csv},
                                                       {"latex", ReportFormat::latex},
                                                       {"json", ReportFormat::json}};
  const auto found = formats.find(name);
  if (found == formats.end())
    throw UsageError("--format " + name + " must be markdown, csv, latex or json");
  return found->second;
}

std::string print(const Report& report, ReportFormat format) {
  switch (format) {
    case ReportFormat::markdown: return tables(report, markdown, "") + remarks(report, "- ");
    case ReportFormat::latex: return tables(report, latex, "% ") + remarks(report, "% ");
    case ReportFormat::csv: return csv(report);
    case ReportFormat::json: return json(report);
  }
  return "";
}

}  // namespace draftlab
