// `draftlab distill` writes the answers of a model as a corpus that another model learns from.
#pragma once

#include "experiments/command/command.h"

namespace draftlab {

Command distill_command();

}  // namespace draftlab
