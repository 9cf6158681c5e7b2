#include "core/trace/trace_tables.h"

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

void check_ragged(const ColumnReader& file, const std::string& what,
                  const std::vector<std::int64_t>& first, const std::vector<std::int64_t>& count,
                  std::int64_t begin, std::int64_t end) {
  std::int64_t next = begin;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] != next || count[i] < 0 || count[i] > end - next)
      file.fail("has rows of '" + what + "' that do not lie one after the other");
    next += count[i];
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
  return std::vector<std::int64_t>(count, column.flags.empty() ? 0 : column.flags.front().first);
}

Columns load(const ColumnReader& file, Table table, const Named& named, std::int64_t first,
             std::int64_t count) {
  Columns columns(table);
  if (info(table).optional && !file.has(std::string(name(table)))) return columns;
  for (const ColumnInfo& column : info(table).columns) {
    Values values = column.since > 0 && !file.has(column.name)
                        ? absent(column, count)
                        : file.read(table, column, first, count);
    check_flags(file, column, values);
    columns.set(column, std::move(values));
  }
  if (named.count(table)) {
    for (const ColumnInfo& column : named.at(table))
      columns.set(column, file.read(table, column, first, count));
  }
  return columns;
}

std::vector<PluginRow> plugins_of(const ColumnReader& file) {
  const Columns stored = load(file, Table::plugin, {}, 0, file.rows(Table::plugin));
  std::vector<PluginRow> rows(stored.rows());
  for (std::int64_t i = 0; i < stored.rows(); ++i) stored.get(i, rows[i]);
  return rows;
}

std::vector<std::int64_t> integers(const ColumnReader& file, Table table,
                                   const std::string& column) {
  return std::get<0>(file.read(table, declared(table, column)));
}

}  // namespace draftlab
