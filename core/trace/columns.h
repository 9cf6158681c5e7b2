// Rows as columns in memory: the form between the trace's rows and its file.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/trace/schema.h"

namespace draftlab {

// The values of one column, as wide as any type of its class; the file stores the declared width.
using Values =
    std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>>;

std::int64_t size(const Values& values);
Values empty_values(Type type);
// Reserves room for `count` values in all. Much of it comes in large pages, because with millions
// of values a third of the time would otherwise go into page faults.
void reserve(std::vector<std::int64_t>& values, std::size_t count);
void reserve(Values& values, std::size_t count);
void reserve(std::vector<unsigned char>& values, std::size_t count);
// Appends `from[first, first + count)`.
void append(Values& to, const Values& from, std::int64_t first, std::int64_t count);
// Returns the values of the rows named, in their order.
Values selected(const Values& values, std::span<const std::int64_t> rows);

// Some rows of one table, column by column.
class Columns {
 public:
  explicit Columns(Table table);

  Table table() const { return table_; }
  std::int64_t rows() const { return rows_; }
  // The declared columns come first, then those that the run named.
  const std::vector<ColumnInfo>& infos() const { return infos_; }
  const Values& values(std::size_t column) const { return values_[column]; }
  const std::vector<std::int64_t>& integers(const std::string& column) const;

  // Adds a row. `links` are the values of the table's link columns, in the order of its
  // declaration.
  template <class Row>
  void add(Row& row, std::initializer_list<std::int64_t> links);
  // Adds several rows, a column at a time, which is several times faster. `links` holds the links
  // of the first row, then of the second, and so on.
  template <class Row>
  void add_all(const std::vector<Row>& rows, const std::vector<std::int64_t>& links);
  // Sets the named value of a row that was added. Rows without one hold NaN.
  void named(const std::string& name, std::int64_t row, double value);

  // Used in reading: replaces one column, or adds it when it is a named one.
  void set(const ColumnInfo& info, Values values);
  template <class Row>
  void get(std::int64_t row, Row& into) const;
  // NaN means that the row has no such value.
  std::vector<std::pair<std::string, double>> named(std::int64_t row) const;

  void clear();

 private:
  std::size_t named_at(const std::string& name);
  Table table_;
  std::vector<ColumnInfo> infos_;
  std::vector<Values> values_;
  std::int64_t rows_ = 0;
};

// Returns what a coarse column stores: the nearest float with 12 bits of mantissa after the point.
double coarse(double value);
// Returns `text` with every byte that is not valid UTF-8, and every NUL, replaced by U+FFFD,
// because readers refuse what is not UTF-8.
std::string valid_utf8(const std::string& text);

}  // namespace draftlab
