// `draftlab describe KIND.NAME`: options, defaults, ranges, source.
#pragma once

#include "core/config/plugin.h"
#include "experiments/arm/command_line.h"

namespace draftlab {

int describe(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
