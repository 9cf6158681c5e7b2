// What other readers of HDF5 and netCDF find in a file, seen through HDF5's own calls.
#include "core/trace/hdf5_columns.h"

#include <doctest/doctest.h>
#include <hdf5_hl.h>

#include <filesystem>
#include <numeric>

#include "core/base/error.h"
#include "core/trace/hdf5_handle.h"
#include "tests/core/trace/trace_fixture.h"

namespace draftlab {
namespace {

Handle open_file(const std::string& path, unsigned flags) {
  return {H5Fopen(path.c_str(), flags, H5P_DEFAULT), H5Fclose};
}

Handle open_data(hid_t file, const std::string& name) {
  return {H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose};
}

TEST_CASE("every column says what it means") {
  const TraceFolder folder("hdf5");
  write_made(folder / "a.h5", 4);
  const ColumnReader reader(folder / "a.h5");
  for (const Table table : {Table::run, Table::sample, Table::step, Table::token, Table::draft}) {
    for (const ColumnInfo& column : info(table).columns) {
      CAPTURE(column.name);
      CHECK(reader.text(column.name, "long_name") == column.doc);
      CHECK(reader.text(column.name, "units").value_or("") == column.unit);
    }
  }
}

TEST_CASE("a unit says nothing of its columns, and the trace that is made of units does") {
  const TraceFolder folder("hdf5");
  TraceWriter writer(folder / "a.h5", {Provenance(), made_runs()}, TraceOptions{}, false);
  writer.sample(made_sample(0, 0, 0, 4));
  writer.flush();
  int units = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "a.h5.units")) {
    if (entry.path().extension() != ".h5") continue;
    const ColumnReader unit(entry.path().string());
    CHECK(unit.integer("part") == 1);
    CHECK_FALSE(unit.text("Conventions"));
    CHECK_FALSE(unit.text(info(Table::step).columns.front().name, "long_name"));
    CHECK(unit.rows(Table::sample) == 1);
    ++units;
  }
  CHECK(units == 1);
  writer.sample(made_sample(1, 0, 0, 4));
  writer.close();
  const ColumnReader whole(folder / "a.h5");
  CHECK_FALSE(whole.integer("part"));
  CHECK(whole.text("Conventions") == "CF-1.10");
  for (const ColumnInfo& column : info(Table::step).columns)
    CHECK(whole.text(column.name, "long_name") == column.doc);
}

// The column must list its scale (DIMENSION_LIST), and the scale its columns (REFERENCE_LIST).
TEST_CASE("every column has its table for a dimension, and the table lists it") {
  const TraceFolder folder("hdf5");
  write_made(folder / "a.h5", 4);
  const Handle file = open_file(folder / "a.h5", H5F_ACC_RDONLY);
  REQUIRE(file.good());
  for (const Table table : {Table::run, Table::sample, Table::step, Table::token, Table::draft}) {
    const Handle scale = open_data(file, std::string(name(table)));
    REQUIRE(H5DSis_scale(scale) > 0);
    for (const ColumnInfo& column : info(table).columns) {
      CAPTURE(column.name);
      CHECK(H5DSis_attached(open_data(file, column.name), scale, 0) > 0);
    }
  }
}

TEST_CASE("values that a column's type cannot hold are a fault, not a file without them") {
  ColumnWriter writer(1);
  writer.table(Table::run, 2);
  const ColumnInfo text{.name = "run_arm", .type = Type::text, .unit = "", .doc = "an arm"};
  CHECK_THROWS_AS(writer.column(Table::run, text, std::vector<double>{1, 2}), Fault);
}

TEST_CASE("nothing is loaded into the process to read a file's filters") {
  REQUIRE(H5PLset_loading_state(H5PL_ALL_PLUGIN) >= 0);
  const ColumnWriter writer(1);
  unsigned loads = H5PL_ALL_PLUGIN;
  REQUIRE(H5PLget_loading_state(&loads) >= 0);
  CHECK(loads == 0);
}

// A column that another version of draftlab may have written: in one piece, where this one writes
// chunks.
TEST_CASE("a file of our own is read whole where a column is stored otherwise") {
  const TraceFolder folder("hdf5");
  const std::string path = folder / "a.h5";
  std::vector<std::int64_t> positions(100'000);
  std::iota(positions.begin(), positions.end(), 0);
  const ColumnInfo column{
      .name = "token_position", .type = Type::int32, .unit = "1", .doc = "place on the canvas"};
  const hsize_t rows = positions.size();
  REQUIRE(is_chunked(column.type, rows));
  {
    ColumnWriter writer(1);
    writer.table(Table::token, static_cast<std::int64_t>(rows));
    writer.save(path);
    const Handle file = open_file(path, H5F_ACC_RDWR),
                 space(H5Screate_simple(1, &rows, nullptr), H5Sclose);
    const Handle data(H5Dcreate2(file, column.name.c_str(), stored_type(column.type), space,
                                 H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                      H5Dclose);
    REQUIRE(H5Dwrite(data, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, positions.data()) >= 0);
  }
  const ColumnReader own(path, ColumnReader::Trust::own);
  CHECK(own.read(Table::token, column) == Values(positions));
}

}  // namespace
}  // namespace draftlab
