// `draftlab check CONFIG...` and `draftlab check-trace FILE...` say what is wrong before anything
// is run or read.
#pragma once

#include "experiments/command/command.h"

namespace draftlab {

Command check_command();
Command check_trace_command();

}  // namespace draftlab
