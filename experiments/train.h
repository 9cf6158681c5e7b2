// `draftlab train CONFIG` makes a checkpoint or a tokenizer.
#pragma once

#include "core/config/plugin.h"
#include "experiments/arm/command_line.h"

namespace draftlab {

int train(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
