// Reads the tables of a trace's file, whole or in part, and checks them against each other.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/trace/columns.h"
#include "core/trace/hdf5_columns.h"
#include "core/trace/prompts.h"

namespace draftlab {

// The columns that a run has named, which are not in the schema.
using Named = std::map<Table, std::vector<ColumnInfo>>;

// Refuses a file that is not a trace of a version that this program reads.
void check_root(const ColumnReader& file);
// Where the rows of children lie: those of each parent, and that all of them lie in [begin, end).
struct Ragged {
  const std::vector<std::int64_t>& first;
  const std::vector<std::int64_t>& count;
  std::int64_t begin = 0, end = 0;
};
// Checks that the rows of a table lie one parent after the other, and where they should.
void check_ragged(const ColumnReader& file, const std::string& table, const Ragged& rows);
Named named_of(const ColumnReader& file);
// Returns the values that stand in for a column that an older file, or another task, does not have.
Values absent(const ColumnInfo& column, std::int64_t count);
// Rows [first, first + count) of a table.
struct RowRange {
  std::int64_t first = 0, count = 0;
};
Columns load(const ColumnReader& file, Table table, const Named& named, const RowRange& rows);
// Returns the arms with their settings and axes, which an older file does not have.
std::vector<RunRow> runs_of(const ColumnReader& file);
// Returns the files of plugins that took part; none where the file is older than that table.
std::vector<PluginRow> plugins_of(const ColumnReader& file);
// Returns the texts of tokens; none where the model has no tokenizer.
std::vector<PieceRow> pieces_of(const ColumnReader& file);
// Returns the tokens of prompts; none where the file has none, or is older than that table.
GivenRows given_of(const ColumnReader& file);
// Returns a whole column of the schema.
std::vector<std::int64_t> integers(const ColumnReader& file, Table table,
                                   const std::string& column);

}  // namespace draftlab
