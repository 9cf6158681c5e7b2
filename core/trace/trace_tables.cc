#include "core/trace/trace_tables.h"

#include <cmath>

#include "core/base/error.h"
#include "core/trace/rows.h"

namespace draftlab {
namespace {

// Checks the values of an enumeration, because readers look up their names without another check.
void check_flags(const ColumnReader& file, const ColumnInfo& column, const Values& values) {
  if (column.flags.empty()) return;
  for (std::int64_t value : std::get<0>(values)) {
    if (value < column.flags.front().first || value > column.flags.back().first) {
      file.fail("has the value " + std::to_string(value) + " in column '" + column.name +
                "', which is none of its flag_values");
    }
  }
}

const ColumnInfo& declared(Table table, const std::string& column) {
  for (const ColumnInfo& c : info(table).columns) {
    if (c.name == column) return c;
  }
  throw Fault("the schema has no column '{}'", column);
}

}  // namespace

void check_root(const ColumnReader& file) {
  const std::string magic = file.text("magic").value_or("");
  if (magic != kTraceMagic)
    file.fail("is no trace: its root attribute 'magic' is not '" + std::string(kTraceMagic) + "'");
  const std::string version = file.text("schema_version").value_or("");
  const std::string major(kSchemaVersion.substr(0, kSchemaVersion.find('.') + 1));
  if (version.rfind(major, 0) != 0)
    file.fail("is a trace of version '" + version.substr(0, 20) + "', and this program reads " +
              major + "x");
  if (file.integer("complete").value_or(0) != 1)
    file.fail("is incomplete: its root attribute 'complete' is not 1");
}

void check_ragged(const ColumnReader& file, const std::string& table, const Ragged& rows) {
  std::int64_t next = rows.begin;
  for (std::size_t i = 0; i < rows.first.size(); ++i) {
    if (rows.first[i] != next || rows.count[i] < 0 || rows.count[i] > rows.end - next)
      file.fail("has rows of '" + table + "' that do not lie one after the other");
    next += rows.count[i];
  }
}

Named named_of(const ColumnReader& file) {
  Named named;
  for (const std::string& column : file.names()) {
    for (Table table : kNamedTables) {
      if (!column.starts_with(named_prefix(table))) continue;
      try {
        named[table].push_back(named_column(table, column.substr(named_prefix(table).size())));
      } catch (const Fault&) {
        file.fail("has a column '" + column.substr(0, 80) + "' whose name is not lower_case");
      }
    }
  }
  return named;
}

Values absent(const ColumnInfo& column, std::int64_t count) {
  if (column.type == Type::float32 || column.type == Type::float64)
    return std::vector<double>(count, kNotMeasured);
  if (column.type == Type::text) return std::vector<std::string>(count);
  // An id that may be none is none.
  const std::int64_t least = column.low < 0 && std::isfinite(column.low) ? column.low : 0;
  return std::vector<std::int64_t>(count,
                                   column.flags.empty() ? least : column.flags.front().first);
}

Columns load(const ColumnReader& file, Table table, const Named& named, const RowRange& rows) {
  Columns columns(table);
  if (info(table).optional && !file.has(std::string(name(table)))) return columns;
  for (const ColumnInfo& column : info(table).columns) {
    Values values = column.since > 0 && !file.has(column.name)
                        ? absent(column, rows.count)
                        : file.read(table, column, rows.first, rows.count);
    check_flags(file, column, values);
    columns.set(column, std::move(values));
  }
  if (named.count(table)) {
    for (const ColumnInfo& column : named.at(table))
      columns.set(column, file.read(table, column, rows.first, rows.count));
  }
  return columns;
}

namespace {

// An empty table's columns are not opened, which for a small file takes as long as to read them.
template <class Row>
std::vector<Row> rows_of(const ColumnReader& file, Table table) {
  if (file.rows(table) == 0) return {};
  const Columns stored = load(file, table, {}, {0, file.rows(table)});
  std::vector<Row> rows(static_cast<std::size_t>(stored.rows()));
  for (std::int64_t i = 0; i < stored.rows(); ++i) stored.get(i, rows[static_cast<std::size_t>(i)]);
  return rows;
}

// Gives each arm its rows of a table whose rows name their arm.
template <class Row>
void distribute(const ColumnReader& file, Table table, std::vector<Row> RunRow::*member,
                std::vector<RunRow>& runs) {
  for (Row& row : rows_of<Row>(file, table)) {
    if (row.run < 0 || row.run >= static_cast<std::int32_t>(runs.size()))
      file.fail("has a row of '" + std::string(name(table)) + "' of a run that it does not list");
    (runs[static_cast<std::size_t>(row.run)].*member).push_back(std::move(row));
  }
}

}  // namespace

std::vector<RunRow> runs_of(const ColumnReader& file) {
  std::vector<RunRow> runs = rows_of<RunRow>(file, Table::run);
  distribute(file, Table::axis, &RunRow::axes, runs);
  distribute(file, Table::setting, &RunRow::settings, runs);
  return runs;
}

std::vector<PluginRow> plugins_of(const ColumnReader& file) {
  return rows_of<PluginRow>(file, Table::plugin);
}

std::vector<PieceRow> pieces_of(const ColumnReader& file) {
  return rows_of<PieceRow>(file, Table::piece);
}

GivenRows given_of(const ColumnReader& file) {
  GivenRows prompts;
  for (GivenRow& row : rows_of<GivenRow>(file, Table::given))
    prompts[{row.run, row.prompt}].push_back(row);
  return prompts;
}

std::vector<std::int64_t> integers(const ColumnReader& file, Table table,
                                   const std::string& column) {
  return std::get<0>(file.read(table, declared(table, column)));
}

}  // namespace draftlab
