#pragma once

#include "core/config/plugin.h"
#include "experiments/arm/command_line.h"

namespace draftlab {

// draftlab report PATH...: the table of an experiment, from its traces.
int report(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
