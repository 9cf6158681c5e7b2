// `draftlab sweep CONFIG --out DIR` decodes every cell of a config, in processes of this machine or
// as an array of Slurm jobs. Whatever is killed, the same command goes on with what is missing.
#pragma once

#include <string>
#include <vector>

#include "experiments/command/command.h"

namespace draftlab {

Command sweep_command();

// Returns the libraries that were frozen into the folder of a sweep, and none where `path` is a
// config.
std::vector<std::string> frozen_plugins(const std::string& path);

}  // namespace draftlab
