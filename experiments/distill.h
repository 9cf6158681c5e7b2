// `draftlab distill CONFIG` writes a teacher's own answers to a task's prompts as parallel text to
// train on (sequence-level distillation: Kim and Rush, 2016).
#pragma once

#include "core/config/plugin.h"
#include "experiments/arm/command_line.h"

namespace draftlab {

int distill(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
