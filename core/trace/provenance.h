// Where and with what a result was made: attributes of every trace.
#pragma once

#include "core/parts/model.h"
#include "core/trace/rows.h"

namespace draftlab {

// Software version, git commit, host, processor, compiler and libraries, and the time now as
// `started`.
Provenance provenance(const Machine& machine, std::int64_t seed);

// Processors this process may use: its affinity mask, or SLURM_CPUS_PER_TASK where that is fewer.
int usable_threads();

std::string utc_now();  // "2026-01-31T12:00:00Z"
std::string version();  // "0.1.0"

}  // namespace draftlab
