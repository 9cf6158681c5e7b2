// `draftlab bench`: the benchmarks.
#pragma once

#include "core/plugin.h"
#include "experiments/command_line.h"

namespace draftlab {

// Tokens a second against batch size: `draftlab bench batch CONFIG`.
int bench_batch(const CommandLine& line, const Registries& registries);

int bench(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
