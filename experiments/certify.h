// `draftlab certify CONFIG`: enumerates every outcome of a decoder against its named reference.
#pragma once

#include "core/plugin.h"
#include "experiments/command_line.h"

namespace draftlab {

int certify(const CommandLine& line, const Registries& registries);

}  // namespace draftlab
