// `draftlab describe KIND.NAME` prints a plugin's options, defaults, ranges and source.
#pragma once

#include "core/config/plugin.h"
#include "experiments/arm/command_line.h"

namespace draftlab {

int describe(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
