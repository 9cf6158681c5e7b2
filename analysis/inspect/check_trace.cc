#include "analysis/inspect/check_trace.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <sstream>

#include "analysis/inspect/check_columns.h"
#include "analysis/inspect/check_samples.h"
#include "core/base/error.h"
#include "core/base/isolation.h"
#include "core/trace/trace_options.h"

namespace draftlab {
namespace {

// Returns what a summary says of a table: "1 run", "3 axes".
std::string count_of(std::int64_t rows, Table table) {
  const std::string one = table == Table::given ? "given token" : std::string(name(table));
  const std::string many = table == Table::axis ? "axes" : one + "s";
  return std::to_string(rows) + " " + (rows == 1 ? one : many);
}

constexpr std::uintmax_t kSoonChecked = 64 << 20;  // The largest trace that is checked unasked.

// The tables that every run and every sample has a row of.
void check_samples(TraceCheck& result) {
  const ColumnReader file(result.path);
  Findings findings(result);
  CheckColumns columns(file, findings);
  columns.check_root(kTraceMagic);
  for (const Table table : {Table::run, Table::sample}) columns.check_table(table);
  for (const std::string& column : file.names()) {
    const std::string_view prefix = named_prefix(Table::sample);
    if (!column.starts_with(prefix)) continue;
    columns.check_column(Table::sample, named_column(Table::sample, column.substr(prefix.size())));
  }
  result.summary = result.valid() ? "valid" : "not valid";
}

void check_file(TraceCheck& result) {
  const ColumnReader file(result.path);
  Findings findings(result);
  CheckColumns columns(file, findings);
  const bool curves = file.text("magic") == std::string(kCurvesMagic);
  columns.check_root(curves ? kCurvesMagic : kTraceMagic);
  const std::vector<Table>& tables = curves ? curve_tables() : trace_tables();
  std::set<std::string> known;
  for (Table table : tables) {
    columns.check_table(table);
    known.insert(std::string(name(table)));
    for (const ColumnInfo& column : info(table).columns) known.insert(column.name);
  }
  if (!curves && file.has(std::string(name(Table::cell)))) {
    columns.check_table(Table::cell);
    known.insert(std::string(name(Table::cell)));
    for (const ColumnInfo& column : info(Table::cell).columns) known.insert(column.name);
  }
  for (const std::string& column : file.names()) {
    bool named = false;
    for (Table table : kNamedTables) {
      if (curves || !column.starts_with(named_prefix(table))) continue;
      columns.check_column(table, named_column(table, column.substr(named_prefix(table).size())));
      named = true;
    }
    if (!named)
      findings.should(
          known.count(column) > 0,
          {column.substr(0, 80), "is a column of schema " + std::string(kSchemaVersion)});
  }
  const std::string drafts = curves ? "" : file.text("drafts").value_or("");
  constexpr auto kWords = words(RecordedDrafts());
  if (!curves)
    findings.must(std::count(kWords.begin(), kWords.end(), drafts) > 0,
                  {"drafts", "is none, span or all"}, -1, "'" + drafts.substr(0, 40) + "'");
  if (!curves && result.valid()) {
    columns.check_links(
        {Table::sample, "sample_first_step", "sample_n_steps", Table::step, "step_sample_index"});
    columns.check_links(
        {Table::step, "step_first_token", "step_n_tokens", Table::token, "token_step_index"});
    columns.check_links(
        {Table::step, "step_first_draft", "step_n_drafts", Table::draft, "draft_step_index"});
  }
  if (!curves && result.valid()) {
    const Trace trace(result.path);
    CheckSamples(trace, drafts, findings).run();
  }
  std::ostringstream summary;
  summary << (result.valid() ? "valid" : "not valid") << ", schema "
          << file.text("schema_version").value_or("unknown").substr(0, 20);
  for (Table table : tables) {
    try {
      summary << ", " << count_of(file.rows(table), table);
    } catch (const DataError&) {
      // The error was found above.
    }
  }
  result.summary = summary.str();
}

}  // namespace

bool TraceCheck::valid() const {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& finding) { return finding.must; });
}

namespace {

TraceCheck check_here(const std::string& path, CheckedPart part) {
  TraceCheck result;
  result.path = path;
  try {
    if (part == CheckedPart::samples)
      check_samples(result);
    else
      check_file(result);
  } catch (const Error& error) {
    result.findings.push_back({true, "", error.what(), -1});
    result.summary = "not valid";
  }
  return result;
}

std::string to_text(const TraceCheck& check) {
  nlohmann::json json = {{"summary", check.summary}, {"hidden", check.hidden}};
  json["findings"] = nlohmann::json::array();
  for (const Finding& finding : check.findings)
    json["findings"].push_back({finding.must, finding.column, finding.what, finding.row});
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

TraceCheck from_text(const std::string& path, const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text);
  TraceCheck check;
  check.path = path, check.summary = json.at("summary"), check.hidden = json.at("hidden");
  for (const nlohmann::json& finding : json.at("findings"))
    check.findings.push_back({finding[0], finding[1], finding[2], finding[3]});
  return check;
}

}  // namespace

// HDF5 breaks down over some damaged files, and over which depends on what it read before: so all
// of the check is a child's.
TraceCheck check_trace(const std::string& path, CheckedPart part) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error), bytes = error ? 0 : size;
  const auto answer =
      answer_of_child([&] { return to_text(check_here(path, part)); }, (1u << 29) + 64 * bytes,
                      20 + 4 * static_cast<unsigned>(bytes >> 20));
  if (answer) return from_text(path, *answer);
  TraceCheck result;
  result.path = path;
  result.findings.push_back(
      {true, "", "'" + path + "' is damaged: HDF5 breaks down when it reads it", -1});
  result.summary = "not valid";
  return result;
}

std::string warnings_of_invalid(const std::vector<std::string>& paths) {
  std::ostringstream out;
  for (const std::string& path : paths) {
    std::error_code error;
    const bool small = std::filesystem::file_size(path, error) <= kSoonChecked;
    const TraceCheck check = check_trace(path, small ? CheckedPart::all : CheckedPart::samples);
    if (check.valid()) continue;
    const auto broken = std::find_if(check.findings.begin(), check.findings.end(),
                                     [](const Finding& finding) { return finding.must; });
    out << "warning: '" << path
        << "' is not valid, so numbers made of it may be wrong: " << broken->column
        << (broken->row >= 0 ? " row " + std::to_string(broken->row) : "")
        << (broken->column.empty() ? "" : " ") << broken->what
        << "; draftlab check-trace says the rest\n";
  }
  return out.str();
}

int print(const TraceCheck& check, std::ostream& out) {
  for (const Finding& finding : check.findings) {
    out << check.path << ": " << (finding.must ? "MUST" : "SHOULD") << ": ";
    if (!finding.column.empty())
      out << finding.column << (finding.row >= 0 ? " row " + std::to_string(finding.row) : "")
          << " ";
    out << finding.what << "\n";
  }
  for (const auto& [rule, count] : check.hidden)
    out << check.path << ": and " << count << " more rows of " << rule << "\n";
  out << check.path << ": " << check.summary << "\n";
  return check.valid() ? 0 : 65;
}

}  // namespace draftlab
