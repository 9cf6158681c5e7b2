// `draftlab run CONFIG` decodes every cell of a config, writes the trace and prints the table.
#pragma once

#include "core/config/plugin.h"
#include "experiments/arm/command_line.h"

namespace draftlab {

int run(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
