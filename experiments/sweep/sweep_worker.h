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
  // The worker decodes cells [first, last) of the sweep.
  std::size_t first = 0, last = static_cast<std::size_t>(-1);
  // Slurm's name of the job that this process runs in.
  std::string job;
  // A cell that failed in this round is left alone.
  std::string round;
  // The threads of a model; 0 takes the config's, or as many as this process may use.
  int threads = 0;
  // The descriptor for lines that tell the process that started this one how far it is.
  int report = -1;
  // The seconds from SIGTERM to the end; a sample that takes longer is dropped (Slurm's usual
  // KillWait is 30).
  double grace = 20;
  // The seconds left to the job that this process runs in; 0 when no end is known.
  double seconds_left = 0;
  // Whether the job was requeued: what died with the job before was no fault of the cell.
  bool requeued = false;
  // Called when all is written and the process ends before its cells are done.
  std::function<void()> at_exit;
  // Whether to wait for cells that other processes hold, in case they die.
  bool wait = false;
};

// The exit statuses are 0 when every cell is done, 1 when some failed or are held by others, and 75
// when the worker was interrupted and there is more to do.
constexpr int kTryAgain = 75;
int work(const SweepFolder& folder, const WorkerOptions& options, const Registries& registries);

// The lines of the report are "begin N", "sample N", "done N" and "failed N"; N is the cell's
// index.

}  // namespace draftlab
