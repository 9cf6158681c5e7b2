// `draftlab inspect FILE --sample I` shows one trajectory, step by step.
#pragma once

#include "core/config/plugin.h"
#include "experiments/arm/command_line.h"

namespace draftlab {

int inspect(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
