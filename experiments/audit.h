#pragma once

#include "core/config/plugin.h"
#include "experiments/arm/command_line.h"

namespace draftlab {

// draftlab audit FILE.py | --log FILE.jsonl: is somebody else's sampler exact? Becomes
// `python3 -m draftlab.audit` of this source tree, with the same arguments; returns only by
// throwing, where that cannot be started.
int audit(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
