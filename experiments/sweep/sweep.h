// `draftlab sweep CONFIG --out DIR` decodes every cell of a config, in processes of this machine or
// as an array of Slurm jobs. Whatever is killed, the same command goes on with what is missing.
#pragma once

#include "experiments/command/command.h"

namespace draftlab {

Command sweep_command();

}  // namespace draftlab
