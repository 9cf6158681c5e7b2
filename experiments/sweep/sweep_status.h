// What became of the cells of a sweep: the manifest, as a table and as rows of sweep.h5.
#pragma once

#include "core/trace/rows.h"
#include "experiments/sweep/sweep_folder.h"

namespace draftlab {

struct Manifest {
  // The rows of every cell, in the order of the sweep.
  std::vector<CellRow> rows;
  // The last lines of the logs of those cells that failed.
  std::vector<std::string> last_lines;
  std::size_t count(std::string_view status) const;
};
Manifest manifest(const SweepFolder& folder);

// Merges what is done into DIR/sweep.h5. Returns false when nothing is done.
bool gather(const SweepFolder& folder, const Manifest& manifest);

// Prints counts, and a line for every failure. Returns true when every cell is done.
bool print_status(const SweepFolder& folder, const Manifest& manifest, std::ostream& out);

// Lets failed and quarantined cells be tried again, as if they had never failed. Returns how many
// there were.
std::size_t forgive_failures(const SweepFolder& folder);

}  // namespace draftlab
