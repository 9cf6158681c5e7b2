// `draftlab certify CONFIG...`: enumerates every outcome of a decoder against its named reference.
#pragma once

#include "core/config/plugin.h"
#include "experiments/arm/command_line.h"

namespace draftlab {

// Exit status 0 when every config's claim holds (certify.expect, certify.worst_nfe), 1 when one
// does not. ConfigError for a config whose outcomes are too many to walk.
int certify(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
