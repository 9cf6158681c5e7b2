#pragma once

#include "core/config/plugin.h"
#include "experiments/arm/command_line.h"

namespace draftlab {

// draftlab replay FILE...: other estimators and routers on stored traces, without a model.
int replay(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
