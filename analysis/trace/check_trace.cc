#include "analysis/trace/check_trace.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <sstream>
#include <tuple>

#include "core/base/error.h"
#include "core/base/isolation.h"
#include "core/trace/hdf5_columns.h"
#include "core/trace/trace_file.h"

namespace draftlab {
namespace {

// A probability computed in floating point may exceed 1 by this.
constexpr double kRounding = 1e-6;
// So many samples are in memory at a time.
constexpr std::int64_t kBlock = 256;

class Checker {
 public:
  explicit Checker(TraceCheck& result) : result_(result) {}
  void run();

 private:
  void found(bool must, const std::string& column, const std::string& rule, std::int64_t row = -1,
             const std::string& value = "");
  void must(bool holds, const std::string& column, const std::string& rule, std::int64_t row = -1,
            const std::string& value = "") {
    if (!holds) found(true, column, rule, row, value);
  }
  void should(bool holds, const std::string& column, const std::string& rule, std::int64_t row = -1,
              const std::string& value = "") {
    if (!holds) found(false, column, rule, row, value);
  }
  void check_root(const ColumnReader& file, std::string_view magic);
  void check_table(const ColumnReader& file, Table table);
  void check_column(const ColumnReader& file, Table table, const ColumnInfo& column);
  void check_links(const ColumnReader& file, Table table, const std::string& first,
                   const std::string& count, Table child, const std::string& parent);
  void check_manifest(const Trace& trace);
  void check_pieces(const Trace& trace);
  void check_sample(const SampleRow& sample, std::int64_t row);
  void check_step(const SampleRow& sample, const StepRow& step, std::set<std::int32_t>& filled);
  void check_counts(const SampleRow& sample, std::int64_t row, Counts SampleRow::*whole,
                    Counts StepRow::*part, const std::string& prefix);

  TraceCheck& result_;
  std::map<std::string, int> times_;
  std::string drafts_;
  std::int64_t step_row_ = 0, token_row_ = 0, draft_row_ = 0;
};

void Checker::found(bool must, const std::string& column, const std::string& rule, std::int64_t row,
                    const std::string& value) {
  const std::string key = column + " " + rule;
  // Rules about rows concern declared columns, whose names are printable.
  if (++times_[key] > TraceCheck::kShown) {
    ++result_.hidden[key];
    return;
  }
  std::string shown = column;
  std::replace_if(
      shown.begin(), shown.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  result_.findings.push_back({must, shown, rule + (value.empty() ? "" : ", not " + value), row});
}

void Checker::check_root(const ColumnReader& file, std::string_view magic) {
  must(file.text("magic") == std::string(magic), "magic", "is '" + std::string(magic) + "'");
  const std::string version = file.text("schema_version").value_or("");
  must(version.starts_with(kSchemaVersion.substr(0, kSchemaVersion.find('.') + 1)),
       "schema_version", "has the major number of " + std::string(kSchemaVersion), -1,
       "'" + version + "'");
  must(file.integer("complete") == 1, "complete", "is 1");
  must(file.integer("index_base") == 0, "index_base", "is 0");
  should(file.text("schema").has_value(), "schema", "describes the columns");
  for (const char* attribute : {"software", "started", "ended"})
    should(!file.text(attribute).value_or("").empty(), attribute, "is given");
}

void Checker::check_column(const ColumnReader& file, Table table, const ColumnInfo& column) {
  Values values;
  try {
    values = file.read(table, column);
  } catch (const DataError& error) {
    return found(true, column.name, error.what());
  }
  should(file.text(column.name, "units").value_or("") == column.unit, column.name,
         "has the units '" + column.unit + "'");
  auto in_range = [&](double value, std::int64_t row) {
    if (std::isnan(value)) return;
    std::ostringstream text;
    text << value;
    if (!column.flags.empty()) {
      const bool known = std::any_of(column.flags.begin(), column.flags.end(),
                                     [&](const auto& flag) { return flag.first == value; });
      must(known, column.name, "is one of its flag_values", row, text.str());
    } else {
      must(value >= column.low - kRounding && value <= column.high + kRounding, column.name,
           "lies in its range", row, text.str());
    }
  };
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&values)) {
    for (std::size_t i = 0; i < integers->size(); ++i)
      in_range(static_cast<double>((*integers)[i]), static_cast<std::int64_t>(i));
  } else if (const auto* numbers = std::get_if<std::vector<double>>(&values)) {
    for (std::size_t i = 0; i < numbers->size(); ++i)
      in_range((*numbers)[i], static_cast<std::int64_t>(i));
  }
}

void Checker::check_table(const ColumnReader& file, Table table) {
  if (info(table).optional && !file.has(std::string(name(table)))) return;
  try {
    file.rows(table);
  } catch (const DataError& error) {
    return found(true, std::string(name(table)), error.what());
  }
  for (const ColumnInfo& column : info(table).columns) {
    if (column.since == 0 || file.has(column.name)) check_column(file, table, column);
  }
}

void Checker::check_links(const ColumnReader& file, Table table, const std::string& first,
                          const std::string& count, Table child, const std::string& parent) {
  auto read = [&](Table of, const std::string& column) {
    for (const ColumnInfo& c : info(of).columns) {
      if (c.name == column) return std::get<0>(file.read(of, c));
    }
    return std::vector<std::int64_t>{};
  };
  const std::vector<std::int64_t> firsts = read(table, first), counts = read(table, count);
  const std::int64_t rows = file.rows(child);
  std::int64_t next = 0;
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    must(firsts[i] == next, first, "is the row after those of the row before", row,
         std::to_string(firsts[i]));
    must(counts[i] >= 0 && counts[i] <= rows - next, count, "leads to rows that exist", row,
         std::to_string(counts[i]));
    if (firsts[i] != next || counts[i] < 0 || counts[i] > rows - next) return;
    next += counts[i];
  }
  must(next == rows, count,
       "add up to the rows of '" + std::string(name(child)) + "', " + std::to_string(rows), -1,
       std::to_string(next));
  if (parent.empty()) return;
  const std::vector<std::int64_t> parents = read(child, parent);
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    for (std::int64_t row = firsts[i]; row < firsts[i] + counts[i]; ++row) {
      must(parents[row] == static_cast<std::int64_t>(i), parent,
           "is the row that this one belongs to", row, std::to_string(parents[row]));
    }
  }
}

// A commit forward belongs to the step that caused it, and the first computation of the prompt to
// the sample.
void Checker::check_counts(const SampleRow& sample, std::int64_t row, Counts SampleRow::*whole,
                           Counts StepRow::*part, const std::string& prefix) {
  for (Kind kind : {Kind::prefill, Kind::draft, Kind::verify, Kind::commit, Kind::aux}) {
    Count sum;
    for (const StepRow& step : sample.steps) {
      const Count& count = (step.*part)[kind];
      sum.calls += count.calls, sum.rows += count.rows, sum.positions += count.positions;
    }
    const Count& total = (sample.*whole)[kind];
    const struct {
      const char* name;
      std::int64_t sum, total;
    } sums[] = {{"nfe_", sum.calls, total.calls},
                {"rows_", sum.rows, total.rows},
                {"positions_", sum.positions, total.positions}};
    for (const auto& s : sums) {
      const bool holds = kind == Kind::prefill ? s.sum <= s.total : s.sum == s.total;
      must(holds, prefix + s.name + std::string(name(kind)),
           "is what its steps add up to, " + std::to_string(s.sum), row, std::to_string(s.total));
    }
  }
}

void Checker::check_step(const SampleRow& sample, const StepRow& step,
                         std::set<std::int32_t>& filled) {
  std::int64_t committed = 0;
  for (std::size_t i = 0; i < step.tokens.size(); ++i, ++token_row_) {
    const TokenRow& token = step.tokens[i];
    must(token.position < sample.length, "token_position", "lies on the canvas", token_row_,
         std::to_string(token.position));
    must(token.rank == static_cast<std::int32_t>(i), "token_rank", "counts up from 0 in its step",
         token_row_, std::to_string(token.rank));
    if (token.source == static_cast<std::int32_t>(Source::edited)) continue;
    ++committed;
    must(filled.insert(token.position).second, "token_position", "is committed once", token_row_,
         std::to_string(token.position));
  }
  for (const DraftRow& draft : step.drafts) {
    must(draft.position < sample.length, "draft_position", "lies on the canvas", draft_row_,
         std::to_string(draft.position));
    should(draft.accepted < 0 || !std::isnan(draft.accept), "draft_accept",
           "is measured where a draft was judged", draft_row_, "NaN");
    ++draft_row_;
  }
  must(step.committed == committed, "step_committed",
       "is the number of its tokens, " + std::to_string(committed), step_row_,
       std::to_string(step.committed));
  must(step.accepted <= step.committed, "step_accepted", "is at most step_committed", step_row_,
       std::to_string(step.accepted));
  must(step.exact <= step.drafted, "step_exact", "is at most step_drafted", step_row_,
       std::to_string(step.exact));
  const auto recorded = static_cast<std::int64_t>(step.drafts.size());
  const bool right = drafts_ == "all"    ? recorded == step.drafted
                     : drafts_ == "none" ? recorded == 0
                                         : recorded <= step.drafted;
  must(right, "step_n_drafts", "is what the attribute 'drafts' says", step_row_,
       std::to_string(recorded));
}

void Checker::check_sample(const SampleRow& sample, std::int64_t row) {
  must(sample.prompt_tokens + sample.generated <= sample.length, "sample_generated",
       "fits the canvas with the prompt", row, std::to_string(sample.generated));
  must(sample.valid <= sample.generated, "sample_valid", "is at most sample_generated", row,
       std::to_string(sample.valid));
  should(sample.status == "done", "sample_status", "is 'done'", row,
         "'" + sample.status.substr(0, 40) + "'");
  std::set<std::int32_t> filled;
  std::int64_t committed = 0, masked = -1;
  std::int32_t number = 0;
  for (const StepRow& step : sample.steps) {
    must(step.step == number, "step_step", "counts up from 0 in its sample", step_row_,
         std::to_string(step.step));
    should(masked < 0 || step.masked == masked, "step_masked",
           "falls by what the step before committed", step_row_, std::to_string(step.masked));
    check_step(sample, step, filled);
    committed += step.committed;
    masked = step.masked - step.committed;
    ++number, ++step_row_;
  }
  must(sample.generated == committed, "sample_generated",
       "is what its steps committed, " + std::to_string(committed), row,
       std::to_string(sample.generated));
  check_counts(sample, row, &SampleRow::counts, &StepRow::counts, "sample_");
  check_counts(sample, row, &SampleRow::drafter_counts, &StepRow::drafter_counts,
               "sample_drafter_");
}

// Checks that each cell leads to its run, one to one, and counts the samples that are here.
void Checker::check_manifest(const Trace& trace) {
  const std::vector<CellRow> cells = manifest(trace);
  if (cells.empty()) return;
  std::vector<std::int64_t> samples(trace.runs().size(), 0);
  for (const SampleRow& sample : trace.read(false)) ++samples[static_cast<std::size_t>(sample.run)];
  std::set<std::int32_t> led_to;
  const std::set<std::string> statuses = {"done", "failed", "quarantined", "running", "missing"};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const CellRow& cell = cells[i];
    const auto row = static_cast<std::int64_t>(i);
    must(cell.run < static_cast<std::int32_t>(samples.size()), "cell_run_index",
         "leads to a run that exists", row, std::to_string(cell.run));
    must(cell.run < 0 || led_to.insert(cell.run).second, "cell_run_index",
         "leads to a run of its own", row, std::to_string(cell.run));
    must(statuses.count(cell.status) > 0, "cell_status",
         "is done, failed, quarantined, running or missing", row,
         "'" + cell.status.substr(0, 40) + "'");
    must(cell.status != "done" || cell.run >= 0, "cell_run_index",
         "leads to a run where the cell is done", row);
    const std::int64_t here = cell.run >= 0 && cell.run < static_cast<std::int32_t>(samples.size())
                                  ? samples[static_cast<std::size_t>(cell.run)]
                                  : 0;
    must(cell.samples == here, "cell_samples",
         "is the number of its samples, " + std::to_string(here), row,
         std::to_string(cell.samples));
  }
  must(led_to.size() == samples.size(), "cell_run_index", "leads to every run");
}

void Checker::check_pieces(const Trace& trace) {
  const Columns pieces = trace.columns(Table::piece, 0, trace.rows(Table::piece));
  std::pair<std::int32_t, std::int32_t> before(-1, -1);
  for (std::int64_t row = 0; row < pieces.rows(); ++row) {
    PieceRow piece;
    pieces.get(row, piece);
    must(before < std::pair(piece.run, piece.token), "piece_id",
         "ascends within its arm, each once", row, std::to_string(piece.token));
    before = {piece.run, piece.token};
    if (piece.run >= static_cast<std::int32_t>(trace.runs().size())) {
      found(true, "piece_run_index", "is a row of the run table", row, std::to_string(piece.run));
      continue;
    }
    const auto end = trace.runs().begin() + piece.run;
    const bool first = std::none_of(trace.runs().begin(), end, [&](const RunRow& run) {
      return run.checkpoint == end->checkpoint;
    });
    must(first, "piece_run_index", "is the first arm of its checkpoint", row,
         std::to_string(piece.run));
  }
}

void Checker::run() {
  const ColumnReader file(result_.path);
  const bool curves = file.text("magic") == std::string(kCurvesMagic);
  check_root(file, curves ? kCurvesMagic : kTraceMagic);
  const std::vector<Table>& tables = curves ? curve_tables() : trace_tables();
  std::set<std::string> known;
  for (Table table : tables) {
    check_table(file, table);
    known.insert(std::string(name(table)));
    for (const ColumnInfo& column : info(table).columns) known.insert(column.name);
  }
  if (!curves && file.has(std::string(name(Table::cell)))) {
    check_table(file, Table::cell);
    known.insert(std::string(name(Table::cell)));
    for (const ColumnInfo& column : info(Table::cell).columns) known.insert(column.name);
  }
  for (const std::string& column : file.names()) {
    bool named = false;
    for (Table table : kNamedTables) {
      if (curves || !column.starts_with(named_prefix(table))) continue;
      check_column(file, table, named_column(table, column.substr(named_prefix(table).size())));
      named = true;
    }
    if (!named)
      should(known.count(column) > 0, column.substr(0, 80),
             "is a column of schema " + std::string(kSchemaVersion));
  }
  if (!curves) drafts_ = file.text("drafts").value_or("");
  if (!curves)
    must(drafts_ == "none" || drafts_ == "span" || drafts_ == "all", "drafts",
         "is none, span or all", -1, "'" + drafts_.substr(0, 40) + "'");
  if (!curves && result_.valid()) {
    check_links(file, Table::sample, "sample_first_step", "sample_n_steps", Table::step,
                "step_sample_index");
    check_links(file, Table::step, "step_first_token", "step_n_tokens", Table::token,
                "token_step_index");
    check_links(file, Table::step, "step_first_draft", "step_n_drafts", Table::draft,
                "draft_step_index");
  }
  if (!curves && result_.valid()) {
    const Trace trace(result_.path);
    check_manifest(trace);
    check_pieces(trace);
    std::tuple<std::int32_t, std::int32_t, std::int32_t> before(-1, -1, -1);
    for (std::int64_t first = 0; first < trace.samples(); first += kBlock) {
      std::int64_t row = first;
      for (const SampleRow& sample : trace.read(first, std::min(kBlock, trace.samples() - first))) {
        const std::tuple key(sample.prompt_index, sample.sample_index, sample.run);
        must(before < key, "sample_prompt_index", "ascends by prompt, repeat and run, each once",
             row);
        before = key;
        check_sample(sample, row++);
      }
    }
  }
  std::ostringstream summary;
  summary << (result_.valid() ? "valid" : "not valid") << ", schema "
          << file.text("schema_version").value_or("unknown").substr(0, 20);
  for (Table table : tables) {
    try {
      const std::int64_t rows = file.rows(table);
      summary << ", " << rows << " " << name(table) << (rows == 1 ? "" : "s");
    } catch (const DataError&) {
      // The error was found above.
    }
  }
  result_.summary = summary.str();
}

}  // namespace

bool TraceCheck::valid() const {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& finding) { return finding.must; });
}

namespace {

TraceCheck check_here(const std::string& path) {
  TraceCheck result;
  result.path = path;
  try {
    Checker(result).run();
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
TraceCheck check_trace(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error), bytes = error ? 0 : size;
  const auto answer =
      answer_of_child([&] { return to_text(check_here(path)); }, (1u << 29) + 64 * bytes,
                      20 + 4 * static_cast<unsigned>(bytes >> 20));
  if (answer) return from_text(path, *answer);
  TraceCheck result;
  result.path = path;
  result.findings.push_back(
      {true, "", "'" + path + "' is damaged: HDF5 breaks down when it reads it", -1});
  result.summary = "not valid";
  return result;
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
