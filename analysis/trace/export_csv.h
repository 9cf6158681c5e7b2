// A trace as text files, for whatever reads no HDF5.
#pragma once

#include <string>
#include <vector>

namespace draftlab {

// Writes FOLDER/run.csv, sample.csv, step.csv, token.csv and draft.csv: a header of the columns'
// names without the table's, then a line a row; NaN is empty, text is quoted where it must be.
// Returns the paths. DataError, OutputError.
std::vector<std::string> export_csv(const std::string& trace, const std::string& folder);

}  // namespace draftlab
