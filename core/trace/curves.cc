#include "core/trace/curves.h"

#include <filesystem>
#include <utility>

#include "core/trace/hdf5_columns.h"
#include "core/trace/provenance.h"

namespace draftlab {
namespace {

template <class Row>
std::vector<Row> rows_in(const ColumnReader& file, Table table) {
  Columns columns(table);
  for (const ColumnInfo& column : info(table).columns) {
    // An older file lacks the column; such columns are numbers.
    const bool lacks = column.since > 0 && !file.has(column.name);
    columns.set(column, lacks ? Values(std::vector<double>(
                                    static_cast<std::size_t>(file.rows(table)), kNotMeasured))
                              : file.read(table, column));
  }
  std::vector<Row> rows(columns.rows());
  for (std::int64_t i = 0; i < columns.rows(); ++i) columns.get(i, rows[i]);
  return rows;
}

template <class Row>
void write_rows(ColumnWriter& file, Table table, const std::vector<Row>& rows) {
  Columns columns(table);
  for (Row row : rows) columns.add(row, {});
  file.columns(columns);
}

}  // namespace

Curves read_curves(const std::string& path) {
  const ColumnReader file(path);
  if (file.text("magic").value_or("") != kCurvesMagic)
    file.fail("holds no curves: its root attribute 'magic' is not '" + std::string(kCurvesMagic) +
              "'");
  return {rows_in<CurveRow>(file, Table::curve), rows_in<ValidationRow>(file, Table::validation)};
}

CurveWriter::CurveWriter(std::string path, Provenance provenance, bool resume)
    : path_(std::move(path)), provenance_(std::move(provenance)) {
  if (resume && std::filesystem::exists(path_)) curves_ = read_curves(path_);
}

void CurveWriter::forget_after(std::int64_t step) {
  std::erase_if(curves_.steps, [step](const CurveRow& row) { return row.step > step; });
  std::erase_if(curves_.validations, [step](const ValidationRow& row) { return row.step > step; });
}

void CurveWriter::flush() const {
  ColumnWriter file(1);
  Provenance provenance = provenance_;
  provenance.ended = utc_now();
  file.root(kCurvesMagic, curve_tables(), provenance);
  write_rows(file, Table::curve, curves_.steps);
  write_rows(file, Table::validation, curves_.validations);
  file.save(path_);
}

}  // namespace draftlab
