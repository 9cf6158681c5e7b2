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
  // Checks that `first` and `count` of a table are the rows of `child` whose `parent` leads back.
  void check_links(Table table, const std::string& first, const std::string& count, Table child,
                   const std::string& parent);

 private:
  const ColumnReader& file_;
  Findings& findings_;
};

}  // namespace draftlab
