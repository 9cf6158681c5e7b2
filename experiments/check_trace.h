// `draftlab check-trace FILE...` validates traces against the schema.
#pragma once

#include "core/config/plugin.h"
#include "experiments/arm/command_line.h"

namespace draftlab {

int check_trace(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
