// Exports a trace as text files, for programs that do not read HDF5.
#pragma once

#include <string>
#include <vector>

namespace draftlab {

// Writes FOLDER/run.csv, sample.csv, step.csv, token.csv and draft.csv: a header of the columns'
// names without the table's, then a line a row; NaN is empty, and text is quoted where it must be.
// Returns the paths. Throws DataError for the trace and OutputError for the folder.
std::vector<std::string> export_csv(const std::string& trace, const std::string& folder);

}  // namespace draftlab
