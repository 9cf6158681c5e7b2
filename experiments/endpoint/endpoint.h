// `draftlab serve CONFIG`: an endpoint that speaks OpenAI's completions and chat protocols and
// answers by the decoder of a config (docs/ENDPOINT.md).
#pragma once

#include "experiments/command/command.h"

namespace draftlab {

Command serve_command();

}  // namespace draftlab
