// `draftlab doctor` prints what this machine is, and what on it makes experiments slow or wrong.
#pragma once

#include "core/config/plugin.h"
#include "experiments/arm/command_line.h"

namespace draftlab {

// Returns what to say at the start of a run: one sentence when products are slow, and "" when they
// are not.
std::string blas_warning();

int doctor(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
