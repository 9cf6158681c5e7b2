// `draftlab replay FILE...` asks other estimators and routers about stored traces, without a model.
#pragma once

#include "core/config/plugin.h"
#include "experiments/arm/command_line.h"

namespace draftlab {

int replay(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
