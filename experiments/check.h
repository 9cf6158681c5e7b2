// `draftlab check CONFIG` validates a whole sweep without running it.
#pragma once

#include "core/config/plugin.h"
#include "experiments/arm/command_line.h"

namespace draftlab {

int check(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
