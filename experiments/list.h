// `draftlab list [KIND]` prints the plugins that exist.
#pragma once

#include "core/config/plugin.h"
#include "experiments/arm/command_line.h"

namespace draftlab {

int list(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
