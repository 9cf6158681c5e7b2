// `draftlab chat CONFIG` decodes behind what is typed, and shows the tokens as they come.
#pragma once

#include "experiments/command/command.h"

namespace draftlab {

Command chat_command();

}  // namespace draftlab
