// `draftlab certify CONFIG...` enumerates every outcome of a decoder and compares it with its named
// reference.
#pragma once

#include "experiments/command/command.h"

namespace draftlab {

// The exit status is 0 when every config's claim holds (certify.expect, certify.worst_nfe), and 1
// when one does not. Throws ConfigError for a config whose outcomes are too many to walk.
Command certify_command();

}  // namespace draftlab
