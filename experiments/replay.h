#pragma once

// `draftlab replay FILE...` asks other estimators and routers about stored traces, without a model.

#include "core/config/plugin.h"
#include "experiments/arm/command_line.h"

namespace draftlab {

int replay(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
