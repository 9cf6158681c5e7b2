// Rows as columns in memory: what lies between the trace's rows and its file.
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

// One column, as wide as any type of its class; the file stores the declared width.
using Values =
    std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>>;

std::int64_t size(const Values& values);
Values empty_values(Type type);
// Room for as many in all. Much of it comes in large pages: of millions of values a third of the
// time would go into page faults else.
void reserve(std::vector<std::int64_t>& values, std::size_t count);
void reserve(Values& values, std::size_t count);
void reserve(std::vector<unsigned char>& values, std::size_t count);
// Appends `from[first, first + count)`.
void append(Values& to, const Values& from, std::int64_t first, std::int64_t count);
// The values of those rows, in their order.
Values selected(const Values& values, std::span<const std::int64_t> rows);

// Some rows of one table.
class Columns {
 public:
  explicit Columns(Table table);

  Table table() const { return table_; }
  std::int64_t rows() const { return rows_; }
  // The declared columns, then those that the run named.
  const std::vector<ColumnInfo>& infos() const { return infos_; }
  const Values& values(std::size_t column) const { return values_[column]; }
  const std::vector<std::int64_t>& integers(const std::string& column) const;

  // `links` are the table's link columns, in the order of its declaration.
  template <class Row>
  void add(Row& row, std::initializer_list<std::int64_t> links);
  // Several rows, a column at a time, which is several times faster; `links` of the first row, then
  // of the second, and so on.
  template <class Row>
  void add_all(const std::vector<Row>& rows, const std::vector<std::int64_t>& links);
  // A named value of a row that was added. Rows without one hold NaN.
  void named(const std::string& name, std::int64_t row, double value);

  // Reading: replaces one column; adds it when it is a named one.
  void set(const ColumnInfo& info, Values values);
  template <class Row>
  void get(std::int64_t row, Row& into) const;
  std::vector<std::pair<std::string, double>> named(std::int64_t row) const;  // NaN means: has none

  void clear();

 private:
  std::size_t named_at(const std::string& name);
  Table table_;
  std::vector<ColumnInfo> infos_;
  std::vector<Values> values_;
  std::int64_t rows_ = 0;
};

// What a coarse column stores: the nearest float with 12 bits of mantissa after the point.
double coarse(double value);
// `text` with every byte that is not valid UTF-8, and every NUL, replaced by U+FFFD: readers refuse
// what is not UTF-8.
std::string valid_utf8(const std::string& text);

}  // namespace draftlab
