#include "core/base/cores.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace draftlab {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Returns the fewest processors that the control groups of this process grant: its own of version
// 2, each that this one is in, and the one of version 1 that a container sees as its own.
int granted_by_control_groups(int most) {
  const std::string root = "/sys/fs/cgroup";
  std::ifstream groups("/proc/self/cgroup");
  std::string own;
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with("0::/")) own = line.substr(3);
  for (std::string group = own;; group.erase(group.rfind('/'))) {
    if (const auto granted = processors_of_quota(first_line(root + group + "/cpu.max")))
      most = std::min(most, *granted);
    if (group.empty() || group.rfind('/') == std::string::npos) break;
  }
  const std::string quota = first_line(root + "/cpu/cpu.cfs_quota_us"),
                    period = first_line(root + "/cpu/cpu.cfs_period_us");
  return std::min(most, processors_of_quota(quota + " " + period).value_or(most));
}

}  // namespace

std::optional<int> processors_of_quota(const std::string& quota) {
  std::istringstream words(quota);
  double allowed = 0, period = 0;
  if (!(words >> allowed >> period) || allowed <= 0 || period <= 0) return std::nullopt;
  return std::max(1, static_cast<int>(std::ceil(allowed / period)));
}

int usable_threads() {
  cpu_set_t set;
  int threads = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  const char* const granted = std::getenv("SLURM_CPUS_PER_TASK");
  if (granted && std::atoi(granted) > 0) threads = std::min(threads, std::atoi(granted));
  return std::max(1, granted_by_control_groups(threads));
}

}  // namespace draftlab
