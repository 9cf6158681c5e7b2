// The tables of a trace's file, read whole or in part, and checked against each other.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/trace/columns.h"
#include "core/trace/hdf5_columns.h"

namespace draftlab {

using Named =
    std::map<Table, std::vector<ColumnInfo>>;  // columns that a run, and not the schema, has named

// Refuses what is no trace of a version that this program reads.
void check_root(const ColumnReader& file);
// Rows of children must lie one parent after the other, and all of them in [begin, end).
void check_ragged(const ColumnReader& file, const std::string& what,
                  const std::vector<std::int64_t>& first, const std::vector<std::int64_t>& count,
                  std::int64_t begin, std::int64_t end);
Named named_of(const ColumnReader& file);
// What stands in for a column that an older file, or another task, does not have.
Values absent(const ColumnInfo& column, std::int64_t count);
// Rows [first, first + count) of a table.
Columns load(const ColumnReader& file, Table table, const Named& named, std::int64_t first,
             std::int64_t count);
// A whole column of the schema.
std::vector<std::int64_t> integers(const ColumnReader& file, Table table,
                                   const std::string& column);

}  // namespace draftlab
