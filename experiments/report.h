// `draftlab report PATH...` prints the table of an experiment, from its traces.
#pragma once

#include "core/config/plugin.h"
#include "experiments/arm/command_line.h"

namespace draftlab {

int report(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
