// Runs a sweep on this machine: worker processes, one line of progress for the whole, and what
// became of it.
#pragma once

#include "experiments/sweep/sweep_folder.h"

namespace draftlab {

// Starts `jobs` processes that share this machine's threads, waits for them, and starts those again
// that died over a cell. Returns false when it was interrupted.
bool run_locally(const SweepFolder& folder, int jobs);

// Counts attempts that died together with the process that started them as interrupted, not failed.
void forgive_interrupted(const SweepFolder& folder);

}  // namespace draftlab
