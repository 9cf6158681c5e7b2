// The command `draftlab invariance`.
#pragma once

#include "experiments/command/command.h"

namespace draftlab {

Command invariance_command();

}  // namespace draftlab
