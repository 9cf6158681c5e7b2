#include "analysis/report/report_print.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/report/report_table.h"
#include "analysis/report/words.h"
#include "core/base/error.h"
#include "core/base/table.h"

namespace draftlab {
namespace {

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string markdown(const ReportTable& table) {
  std::vector<std::vector<ReportTable::Cell>> cells{table.header};
  cells.insert(cells.end(), table.rows.begin(), table.rows.end());
  const std::size_t keys = table.keys;
  std::vector<std::size_t> widths(cells[0].size(), 3);
  const auto escaped = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
      text.insert(at, "\\");
    return text;
  };
  for (const auto& row : cells)
    for (std::size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], width_of(escaped(row[c].text)));
  std::string text;
  const auto line = [&](const std::vector<ReportTable::Cell>& row) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string cell = escaped(row[c].text), space(widths[c] - width_of(cell), ' ');
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
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool times =
        c == 'x' && i > 0 && std::isdigit(static_cast<unsigned char>(text[i - 1])) &&
        (i + 1 == text.size() || !std::isalnum(static_cast<unsigned char>(text[i + 1])));
    if (times)
      result += "$\\times$";
    else if (std::string("&%$#_{}").find(c) != std::string::npos)
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
    else if (c == '-' && i + 1 < text.size() &&
             std::isdigit(static_cast<unsigned char>(text[i + 1])) &&
             (i == 0 || std::string(" [(").find(text[i - 1]) != std::string::npos))
      result += "$-$";
    else
      result += c;
  }
  return result;
}

std::string latex_cell(const ReportTable::Cell& cell) {
  return cell.best ? "\\textbf{" + latex_text(cell.text) + "}" : latex_text(cell.text);
}

// A float with a caption, a label, and its notes below the table. It needs booktabs.
std::string latex(const Report& report) {
  const std::vector<ReportTable> tables = report_tables(report, Headings::words);
  std::string text = "% \\usepackage{booktabs}\n";
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const ReportTable& table = tables[t];
    const auto line = [](const std::vector<ReportTable::Cell>& row) {
      std::string cells;
      for (std::size_t c = 0; c < row.size(); ++c) cells += (c ? " & " : "") + latex_cell(row[c]);
      return cells + " \\\\\n";
    };
    std::string by;
    for (const std::string& key : report.by)
      by += (by.empty() ? " by " : ", ") + key_words(key, report.by);
    const std::string caption =
        (table.title.empty() ? "Results" + by : table.title) + ". The best of a column is bold.";
    text += "\\begin{table}[t]\n\\centering\n\\caption{" + latex_text(caption) +
            "}\n\\label{tab:results" + (tables.size() > 1 ? "-" + std::to_string(t + 1) : "") +
            "}\n\\begin{tabular}{" + std::string(table.keys, 'l') +
            std::string(table.header.size() - table.keys, 'r') + "}\n\\toprule\n" +
            line(table.header) + "\\midrule\n";
    for (const auto& row : table.rows) text += line(row);
    text +=
        "\\bottomrule\n\\end{tabular}\n\n\\vspace{2pt}\n\\begin{minipage}{\\linewidth}"
        "\\footnotesize\n";
    std::vector<std::string> notes = table.notes;
    if (t + 1 == tables.size()) notes.insert(notes.end(), report.notes.begin(), report.notes.end());
    for (const std::string& note : notes) text += latex_text(note) + "\n";
    text += "\\end{minipage}\n\\end{table}\n";
  }
  return text;
}

std::string markdown(const Report& report) {
  std::string text;
  for (const ReportTable& table : report_tables(report, Headings::keys)) {
    if (!table.title.empty()) text += (text.empty() ? "" : "\n") + table.title + "\n\n";
    text += markdown(table);
    if (!table.notes.empty()) text += "\n";
    for (const std::string& note : table.notes) text += "- " + note + "\n";
  }
  // Rows that are groups have a column for what was found of them.
  if (!report.pivot.empty()) {
    text += report.findings.empty() ? "" : "\n";
    for (const Report::Finding& finding : report.findings)
      text += "- " + report.text(finding) + "\n";
  }
  text += report.notes.empty() ? "" : "\n";
  for (const std::string& note : report.notes) text += "- " + note + "\n";
  return text;
}

// Aligned columns for a terminal; tables that are too wide go on below.
std::string plain_text(const Report& report, std::size_t width) {
  std::string text;
  for (const ReportTable& table : report_tables(report, Headings::keys)) {
    const auto cells = [&](const std::vector<ReportTable::Cell>& row) {
      std::vector<std::string> result{""};
      for (std::size_t c = 0; c < row.size(); ++c) {
        if (c < table.keys)
          result[0] += (c ? " " : "") + row[c].text;
        else
          result.push_back(row[c].text);
      }
      return result;
    };
    TextTable lines{cells(table.header), {}};
    for (const auto& row : table.rows) lines.rows.push_back(cells(row));
    if (!text.empty()) text += "\n";
    if (!table.title.empty()) text += wrapped(table.title + "\n\n", width);
    text += lines.print(width);
    for (const std::string& note : table.notes) text += wrapped(note + "\n", width);
  }
  std::string below;
  if (!report.pivot.empty())
    for (const Report::Finding& finding : report.findings) below += report.text(finding) + "\n";
  for (const std::string& note : report.notes) below += note + "\n";
  return text + (below.empty() ? "" : "\n" + wrapped(below, width));
}

const char* finding_name(Equivalence::Finding finding) {
  return finding == Equivalence::Finding::equivalent  ? "equivalent"
         : finding == Equivalence::Finding::different ? "different"
         : finding == Equivalence::Finding::unjudged  ? "unjudged"
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
    for (const Metric& quantity : report.quantities) {
      const ReportCell& cell = group.cell(quantity);
      for (const std::string& key : group.keys) text += csv_text(key) + ",";
      text += quantity.name + "," + quantity.unit + "," + full_number(cell.value.value) + "," +
              full_number(cell.value.interval.low) + "," + full_number(cell.value.interval.high) +
              "," + std::to_string(cell.prompts) + "," + std::to_string(cell.samples) + ",";
      if (!cell.versus) {
        text += std::string(13, ',') + "\n";
        continue;
      }
      const Versus& v = *cell.versus;
      text += csv_text(report.groups[group.baseline].name) + "," + std::to_string(v.prompts);
      for (double value :
           {v.ratio.value, v.ratio.interval.low, v.ratio.interval.high, v.difference.value,
            v.difference.interval.low, v.difference.interval.high, v.p, v.p_holm}) {
        text += "," + full_number(value);
      }
      text += v.equivalence ? std::string(",") + finding_name(v.equivalence->finding) + "," +
                                  full_number(v.equivalence->margin)
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
           {"family", std::string(words(Family{})[static_cast<std::size_t>(report.family)])},
           {"metrics", Json::array()},
           {"groups", Json::array()}};
  for (const Metric& q : report.quantities)
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
    for (const Metric& quantity : report.quantities) {
      const ReportCell& cell = group.cell(quantity);
      Json here = estimate(cell.value);
      here["prompts"] = cell.prompts;
      here["samples"] = cell.samples;
      if (cell.versus) {
        const Versus& v = *cell.versus;
        Json versus{{"prompts", v.prompts},
                    {"samples", v.samples},
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
      row["cells"][quantity.name] = std::move(here);
    }
    all["groups"].push_back(std::move(row));
  }
  all["findings"] = Json::array();
  for (const Report::Finding& finding : report.findings)
    all["findings"].push_back(report.text(finding));
  all["notes"] = report.notes;
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string print(const Report& report, ReportFormat format, std::size_t width) {
  switch (format) {
    case ReportFormat::automatic:
    case ReportFormat::markdown: return markdown(report);
    case ReportFormat::text: return plain_text(report, width);
    case ReportFormat::latex: return latex(report);
    case ReportFormat::csv: return report.pivot.empty() ? csv(report) : pivoted_csv(report);
    case ReportFormat::json: return json(report);
  }
  return "";
}

}  // namespace draftlab
