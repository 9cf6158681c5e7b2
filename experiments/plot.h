// `draftlab plot PATH...` draws figures.
#pragma once

#include "core/config/plugin.h"
#include "experiments/arm/command_line.h"

namespace draftlab {

int plot(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
