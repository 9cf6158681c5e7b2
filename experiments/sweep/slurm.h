// Runs a sweep as Slurm jobs: an array whose tasks decode cells, and a job that gathers when all of
// them have ended, however they did.
#pragma once

#include <string>
#include <vector>

#include "experiments/sweep/slurm_options.h"
#include "experiments/sweep/sweep_folder.h"

namespace draftlab {

// Writes DIR/slurm/array.sh and gather.sh and submits them; `passed` goes to sbatch as it stands.
// Throws ConfigError, in words, where Slurm is not there or refuses.
int submit(const SweepFolder& folder, const SlurmOptions& options,
           const std::vector<std::string>& passed);

// Ends the jobs of this sweep. Returns "" or what Slurm said. Jobs are found by name, because job
// ids may be used twice.
std::string cancel_jobs(const SweepFolder& folder);

// Records why cells make no progress whose jobs are over: out of memory, out of time, preempted or
// cancelled.
void settle_with_slurm(const SweepFolder& folder);

// The job whose batch script this process runs in.
struct SlurmJob {
  // The id, such as "17_3", or "17" outside an array; "" outside Slurm.
  std::string id;
  // Whether the job ran before.
  bool requeued = false;
  // The seconds until the job's limit; 0 when no limit is known.
  double seconds_left = 0;
};
SlurmJob slurm_job();

// Puts the job back into the queue if it is running, but not if it was cancelled, or requeued by
// someone else. Returns what was done.
std::string requeue(const SlurmJob& job);

}  // namespace draftlab
