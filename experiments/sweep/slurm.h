// A sweep as Slurm jobs: an array whose tasks decode cells, and a job that gathers when all of them
// have ended, however they did.
#pragma once

#include <string>
#include <vector>

#include "experiments/sweep/slurm_options.h"
#include "experiments/sweep/sweep_folder.h"

namespace draftlab {

// Writes DIR/slurm/array.sh and gather.sh and submits them; `passed` goes to sbatch as it stands.
// ConfigError, in words, where Slurm is not there or refuses.
int submit(const SweepFolder& folder, const SlurmOptions& options,
           const std::vector<std::string>& passed);

// Ends the jobs of this sweep; "" or what Slurm said. Finds them by name: job ids may be used
// twice.
std::string cancel_jobs(const SweepFolder& folder);

// Records why cells stand still whose jobs are over: out of memory, out of time, preempted,
// cancelled.
void settle_with_slurm(const SweepFolder& folder);

// The job that this process is the batch script of.
struct SlurmJob {
  std::string id;           // "17_3", or "17" outside an array; "" outside Slurm
  bool requeued = false;    // ran before
  double seconds_left = 0;  // 0: no limit is known
};
SlurmJob slurm_job();

// Puts the job back into the queue if it is running: not if it was cancelled, or requeued by
// someone else. Says what it did.
std::string requeue(const SlurmJob& job);

}  // namespace draftlab
