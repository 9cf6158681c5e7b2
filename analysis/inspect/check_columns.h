// Checks the columns of a trace by themselves: that they are there, have their types and units, lie
// in their ranges, and that each table's rows lead to those of the next.
#pragma once

#include <string>
#include <string_view>

#include "analysis/inspect/findings.h"
#include "core/trace/hdf5_columns.h"

namespace draftlab {

class CheckColumns {
 public:
  CheckColumns(const ColumnReader& file, Findings& findings) : file_(file), findings_(findings) {}
  // Checks the attributes of the file.
  void check_root(std::string_view magic);
  void check_table(Table table);
  void check_column(Table table, const ColumnInfo& column);
  // The columns by which the rows of a table lead to those of `child`: the first of these, how many
  // there are, and the column of `child` that leads back ("" where there is none).
  struct Links {
    Table table;
    std::string first, count;
    Table child;
    std::string parent;
  };
  void check_links(const Links& links);

 private:
  const ColumnReader& file_;
  Findings& findings_;
};

}  // namespace draftlab
