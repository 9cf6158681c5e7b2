// The config section `slurm`: what a sweep asks of the cluster it is submitted to
// (experiments/sweep/slurm.h).
#pragma once

#include <cstdint>
#include <string>

namespace draftlab {

class OptionSet;

struct SlurmOptions {
  std::string account, partition, qos, constraint, gpus, mem, time, mail, setup;
  std::int64_t cpus_per_task = 1;
  std::int64_t cells_per_task = 0;
  std::int64_t max_running = 0;
  void declare(OptionSet& set);
};

}  // namespace draftlab
