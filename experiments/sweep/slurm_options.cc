#include "experiments/sweep/slurm_options.h"

#include "core/config/options.h"

namespace draftlab {

void SlurmOptions::declare(OptionSet& set) {
  set.add("account", &account)
      .help("sbatch --account; empty: the cluster's default, here and below.");
  set.add("partition", &partition).help("sbatch --partition.");
  set.add("qos", &qos).help("sbatch --qos.");
  set.add("constraint", &constraint).help("sbatch --constraint: features of the nodes.");
  set.add("gpus", &gpus).help("sbatch --gpus: of each task, such as 1 or a100:1.");
  set.add("mem", &mem)
      .help("sbatch --mem: of each task, such as 8G; draftlab sweep --estimate suggests one.");
  set.add("time", &time)
      .help(
          "sbatch --time: of each task, such as 2:00:00; a task that runs out of it requeues "
          "itself.");
  set.add("mail", &mail).help("Address that is written to when the sweep ends or a task fails.");
  set.add("setup", &setup)
      .help(
          "Shell commands before the program, such as module load gcc hdf5; export "
          "OMP_NUM_THREADS=4.");
  set.add("cpus_per_task", &cpus_per_task)
      .in(1, 4096)
      .help("sbatch --cpus-per-task: threads of a model.");
  set.add("cells_per_task", &cells_per_task)
      .in(0, 1e6)
      .help(
          "Cells that one array task decodes; 0: as many as the cluster's limit on arrays "
          "demands.");
  set.add("max_running", &max_running)
      .in(0, 1e6)
      .help("Most tasks that run at the same time; 0: no limit.");
}

}  // namespace draftlab
