// `draftlab bench`: the benchmarks.
#pragma once

#include "core/plugin.h"
#include "experiments/command_line.h"

namespace draftlab {

int bench(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
