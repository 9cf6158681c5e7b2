// `draftlab list [KIND]`: what there is.
#pragma once

#include "core/config/plugin.h"
#include "experiments/arm/command_line.h"

namespace draftlab {

int list(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
