// How many processors this process may use.
#pragma once

#include <optional>
#include <string>

namespace draftlab {

// Returns the fewest of: the processors of the affinity mask, SLURM_CPUS_PER_TASK, and what the
// quotas of the process's control groups grant, rounded up. It is at least 1.
int usable_threads();

// Returns what a quota such as "150000 100000" grants: microseconds of processor time in each
// period of microseconds, so here 2 processors. Nothing where it is "max", or is no quota.
std::optional<int> processors_of_quota(const std::string& quota);

}  // namespace draftlab
