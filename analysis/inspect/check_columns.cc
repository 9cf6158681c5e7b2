#include "analysis/inspect/check_columns.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/error.h"

namespace draftlab {
namespace {

// A probability computed in floating point may exceed 1 by this.
constexpr double kRounding = 1e-6;

}  // namespace

void CheckColumns::check_root(std::string_view magic) {
  findings_.must(file_.text("magic") == std::string(magic),
                 {"magic", "is '" + std::string(magic) + "'"});
  const std::string version = file_.text("schema_version").value_or("");
  findings_.must(version.starts_with(kSchemaVersion.substr(0, kSchemaVersion.find('.') + 1)),
                 {"schema_version", "has the major number of " + std::string(kSchemaVersion)}, -1,
                 "'" + version + "'");
  findings_.must(file_.integer("complete") == 1, {"complete", "is 1"});
  findings_.must(file_.integer("index_base") == 0, {"index_base", "is 0"});
  findings_.should(file_.text("schema").has_value(), {"schema", "describes the columns"});
  for (const char* attribute : {"software", "started", "ended"})
    findings_.should(!file_.text(attribute).value_or("").empty(), {attribute, "is given"});
}

void CheckColumns::check_column(Table table, const ColumnInfo& column) {
  Values values;
  try {
    values = file_.read(table, column);
  } catch (const DataError& error) {
    return findings_.found(true, {column.name, error.what()});
  }
  if (!file_.integer("part"))
    findings_.should(file_.text(column.name, "units").value_or("") == column.unit,
                     {column.name, "has the units '" + column.unit + "'"});
  const bool score = table == Table::sample && column.name.starts_with(named_prefix(table));
  auto in_range = [&](double value, std::int64_t row) {
    if (std::isnan(value)) return;
    if (score)
      findings_.must(std::isfinite(value), {column.name, "is a finite number"}, row, value);
    if (!column.flags.empty()) {
      const bool known = std::any_of(column.flags.begin(), column.flags.end(),
                                     [&](const auto& flag) { return flag.first == value; });
      findings_.must(known, {column.name, "is one of its flag_values"}, row, value);
    } else {
      findings_.must(value >= column.low - kRounding && value <= column.high + kRounding,
                     {column.name, "lies in its range"}, row, value);
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

void CheckColumns::check_table(Table table) {
  if (info(table).optional && !file_.has(std::string(name(table)))) return;
  try {
    file_.rows(table);
  } catch (const DataError& error) {
    return findings_.found(true, {std::string(name(table)), error.what()});
  }
  for (const ColumnInfo& column : info(table).columns) {
    if (column.since == 0 || file_.has(column.name)) check_column(table, column);
  }
}

void CheckColumns::check_links(const Links& links) {
  const auto& [table, first, count, child, parent] = links;
  auto read = [&](Table of, const std::string& column) {
    for (const ColumnInfo& c : info(of).columns) {
      if (c.name == column) return std::get<0>(file_.read(of, c));
    }
    return std::vector<std::int64_t>{};
  };
  const std::vector<std::int64_t> firsts = read(table, first), counts = read(table, count);
  const std::int64_t rows = file_.rows(child);
  std::int64_t next = 0;
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    findings_.must(firsts[i] == next, {first, "is the row after those of the row before"}, row,
                   firsts[i]);
    findings_.must(counts[i] >= 0 && counts[i] <= rows - next, {count, "leads to rows that exist"},
                   row, counts[i]);
    if (firsts[i] != next || counts[i] < 0 || counts[i] > rows - next) return;
    next += counts[i];
  }
  findings_.must(
      next == rows,
      {count, "add up to the rows of '" + std::string(name(child)) + "', " + std::to_string(rows)},
      -1, next);
  if (parent.empty()) return;
  const std::vector<std::int64_t> parents = read(child, parent);
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    for (std::int64_t row = firsts[i]; row < firsts[i] + counts[i]; ++row) {
      findings_.must(parents[row] == static_cast<std::int64_t>(i),
                     {parent, "is the row that this one belongs to"}, row, parents[row]);
    }
  }
}

}  // namespace draftlab
