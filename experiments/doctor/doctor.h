// `draftlab doctor` and `draftlab golden` say whether this machine computes as it should.
#pragma once

#include "experiments/command/command.h"

namespace draftlab {

Command doctor_command();
Command golden_command();

}  // namespace draftlab
