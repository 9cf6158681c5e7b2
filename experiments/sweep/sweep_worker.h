// Decodes cells of a sweep, one after another, until none is left. Any number of such processes may
// work on one folder.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/config/plugin.h"
#include "experiments/sweep/sweep_folder.h"

namespace draftlab {

struct WorkerOptions {
  std::size_t first = 0, last = static_cast<std::size_t>(-1);  // cells [first, last) of the sweep
  std::string job;    // Slurm's name of the job that this process runs in
  std::string round;  // a cell that failed in this round is left alone
  int threads = 0;    // of a model; 0: the config's, or as many as this process may use
  int report = -1;    // descriptor for lines that tell whoever started this process how far it is
  double grace = 20;  // seconds from SIGTERM to the end: a sample that takes longer is dropped
                      // (Slurm's usual KillWait is 30)
  double seconds_left = 0;  // of the job that this process runs in; 0: no end is known
  bool requeued = false;    // what died with the job before was no fault of the cell
  std::function<void()>
      at_exit;        // called when all is written and the process ends before its cells are done
  bool wait = false;  // for cells that other processes hold, in case they die
};

// Exit statuses: 0 every cell is done; 1 some failed or are held by others; 75 interrupted, and
// there is more to do.
constexpr int kTryAgain = 75;
int work(const SweepFolder& folder, const WorkerOptions& options, const Registries& registries);

// Lines of the report: "begin N", "sample N", "done N", "failed N"; N is the cell's index.

}  // namespace draftlab
