// What became of the cells of a sweep: the manifest, as table and as rows of sweep.h5.
#pragma once

#include "core/trace/rows.h"
#include "experiments/sweep/sweep_folder.h"

namespace draftlab {

struct Manifest {
  std::vector<CellRow> rows;            // of every cell, in the order of the sweep
  std::vector<std::string> last_lines;  // of the logs of those that failed
  std::size_t count(std::string_view status) const;
};
Manifest manifest(const SweepFolder& folder);

// Merges what is done into DIR/sweep.h5. False when nothing is.
bool gather(const SweepFolder& folder, const Manifest& manifest);

// Counts, and a line for every failure. True when every cell is done.
bool print_status(const SweepFolder& folder, const Manifest& manifest, std::ostream& out);

// Lets failed and quarantined cells be tried again, as if they never had been; how many there were.
std::size_t forgive_failures(const SweepFolder& folder);

}  // namespace draftlab
