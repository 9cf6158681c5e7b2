// What a trace's columns are called and mean, in one declaration a column. The writer, the reader,
// the validator, the tables of docs/TRACE_FORMAT.md and every exporter are driven by these lists.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/trace/rows.h"

namespace draftlab {

inline constexpr std::string_view kTraceMagic = "draftlab-trace";
inline constexpr std::string_view kCurvesMagic = "draftlab-curves";
// The version as major.minor. Readers accept every minor version of their major version.
inline constexpr std::string_view kSchemaVersion = "1.10";

// A table is a dimension of the file; the names of its columns begin with its name.
enum class Table {
  run,
  sample,
  step,
  token,
  draft,
  piece,
  plugin,
  setting,
  axis,
  cell,
  curve,
  validation,
  given
};
std::string_view name(Table);

enum class Type { int8, int32, int64, float32, float64, text };
std::string_view name(Type);

// Values are plain, or they tie tables together: rows of a child table lie contiguously under their
// parent.
enum class Role { value, parent, first, count };

struct ColumnInfo {
  // A name such as "token_position".
  std::string name;
  Type type = Type::int32;
  // The unit; "1" for pure numbers, and "" for text.
  std::string unit;
  std::string doc;
  Role role = Role::value;
  // The table that a link leads to.
  Table other = Table::run;
  // The values of an enumeration, and what each means.
  std::vector<std::pair<int, std::string>> flags = {};
  // The bounds are inclusive; NaN (not measured) is always allowed.
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  // Whether the column is stored with 12 bits of mantissa.
  bool coarse = false;
  // The minor version that added the column; older files lack it.
  int since = 0;
};

// Where a row keeps a column's value. It serves writing and reading.
using Field = std::variant<std::int32_t*, std::int64_t*, double*, std::string*>;

template <class Row>
struct Column {
  ColumnInfo info;
  std::function<Field(Row&)> field;

  Column&& in(double low, double high) && {
    info.low = low, info.high = high;
    return std::move(*this);
  }
  Column&& flags(std::vector<std::pair<int, std::string>> values) && {
    info.type = Type::int8, info.flags = std::move(values);
    return std::move(*this);
  }
  Column&& single() && {
    info.type = Type::float32;
    return std::move(*this);
  }
  Column&& coarse() && {
    info.type = Type::float32, info.coarse = true;
    return std::move(*this);
  }
  Column&& since(int minor) && {
    info.since = minor;
    return std::move(*this);
  }
  Column&& leads_to(Table other) && {
    info.role = Role::parent, info.other = other;
    return std::move(*this);
  }
};

// The columns that are fields of a row. Row is one of RunRow, SampleRow, StepRow, TokenRow,
// DraftRow, PieceRow, PluginRow, SettingRow, AxisRow, GivenRow, CellRow, CurveRow and
// ValidationRow.
template <class Row>
const std::vector<Column<Row>>& fields();

struct TableInfo {
  Table table;
  std::string doc;
  // The links (which are no fields of a row) come first, then fields().
  std::vector<ColumnInfo> columns;
  int links = 0;
  // Whether a file may lack the table, which reads as no rows.
  bool optional = false;
};
const TableInfo& info(Table table);
// Returns run, sample, step, token, draft, piece, plugin, setting, axis and given.
const std::vector<Table>& trace_tables();
// Returns cell, which the trace of a sweep has besides.
const std::vector<Table>& sweep_tables();
// Returns curve and validation.
const std::vector<Table>& curve_tables();

// The prefix of the columns that a run names: sample_score_NAME, the task's scores;
// step_expected_NAME, the accepted prefix that each attached estimator expected; draft_top_idN and
// draft_top_pN, the N-th most probable token of a drafted position; token_value_N, coordinate N of
// a vector token. It is empty for tables that have no such columns.
std::string_view named_prefix(Table table);
inline constexpr Table kNamedTables[] = {Table::sample, Table::step, Table::token, Table::draft};
// Returns the column of that name. Throws a Fault unless the name is lower_case.
ColumnInfo named_column(Table table, const std::string& name);

// An attribute of the file's root. Each attribute has a field of Provenance.
struct Attribute {
  std::string name, doc;
  std::function<Field(Provenance&)> field;
};
const std::vector<Attribute>& attributes();

// The tables as the format page shows them, and as the file itself carries them (one line a
// column).
std::string schema_markdown();
const std::string& schema_text(const std::vector<Table>& tables);

}  // namespace draftlab
