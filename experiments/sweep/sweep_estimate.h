// Estimates what a sweep will cost, from a few steps of a few cells.
#pragma once

#include "core/config/plugin.h"
#include "experiments/sweep/sweep_folder.h"

namespace draftlab {

// Decodes a few steps, prints core-hours, walltime and memory, and keeps the estimate, to be
// compared with what was used.
int estimate(SweepFolder& folder, const Registries& registries);

}  // namespace draftlab
