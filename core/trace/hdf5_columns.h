// A file of columns: 1-D datasets in the root of an HDF5 file, with one pure dimension scale a
// table. This file knows HDF5 and nothing of what the columns mean. Every file is made in memory
// and written at one go, so HDF5 never meets a full disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/chunks.h"
#include "core/trace/columns.h"

namespace draftlab {

// A part of a trace (a unit, or a cell of a sweep) becomes columns of a whole one, which alone says
// what its columns mean: HDF5 takes a third of a small file's time for that.
enum class Portion { whole, part };

class ColumnWriter {
 public:
  // `level` is the compression level of gzip.
  explicit ColumnWriter(int level, Portion portion = Portion::whole);
  ~ColumnWriter();
  int level() const;
  void attribute(const std::string& name, const std::string& value);
  void attribute(const std::string& name, std::int64_t value);
  // Writes what every file says of itself: magic, version, schema, provenance, and that it is
  // complete.
  void root(std::string_view magic, const std::vector<Table>& tables, Provenance provenance);
  // Declares a dimension. This must happen before its columns are added.
  void table(Table table, std::int64_t rows);
  // Adds a column: as many values as the table has rows, or the chunks that were made of them.
  void column(Table table, const ColumnInfo& info, const Values& values);
  void column(Table table, const ColumnInfo& info, const Chunks& chunks);
  // Adds the table and all its columns.
  void columns(const Columns& columns);
  // Returns the whole file. Nothing can be added afterwards.
  std::vector<std::byte> image();
  // Writes the file. Throws OutputError when it cannot be written; then no file of that name is
  // made or changed.
  void save(const std::string& path);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Reads only what the schema describes. Whatever is wrong with the file is a DataError: sizes are
// checked against each other and against the size of the file before anything is allocated. Since
// HDF5 itself crashes on some damaged files, a file that this process did not write must agree with
// its checksum, and is first read in a child process: all of it when it is opened (`foreign`), or
// each column when it is first wanted (`lazy`, for few columns of many rows; then a large file's
// checksum is not verified).
class ColumnReader {
 public:
  enum class Trust { foreign, lazy, own };
  explicit ColumnReader(const std::string& path, Trust trust = Trust::foreign);
  ~ColumnReader();
  ColumnReader(ColumnReader&&) noexcept;

  const std::string& path() const;
  std::optional<std::string> text(const std::string& attribute) const;
  std::optional<std::int64_t> integer(const std::string& attribute) const;
  // Returns an attribute of a column.
  std::optional<std::string> text(const std::string& column, const std::string& attribute) const;
  // Returns the provenance; fields are empty where attributes are missing.
  Provenance provenance() const;
  // Returns the names of everything in the root, in ascending order.
  std::vector<std::string> names() const;
  bool has(const std::string& name) const;
  // Returns the rows of the table's dimension.
  std::int64_t rows(Table table) const;
  // Returns rows [first, first + count) of a column.
  Values read(Table table, const ColumnInfo& info, std::int64_t first, std::int64_t count) const;
  Values read(Table table, const ColumnInfo& info) const {
    return read(table, info, 0, rows(table));
  }
  // Appends a whole column of numbers, as the schema would have them stored.
  void append_to(Stored& stored, Table table, const ColumnInfo& info) const;
  // Used by a lazy reader: tries several columns in one child process, which is quicker than one at
  // a time. Throws DataError when HDF5 breaks down.
  void probe(Table table, const std::vector<ColumnInfo>& columns) const;
  // Throws a DataError that names the file.
  [[noreturn]] void fail(const std::string& what) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace draftlab
