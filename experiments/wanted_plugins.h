// Which files of plugins a command line asks for: those of --plugin, and those of [plugins] in the
// configs that it names, or in the config that the folder of a sweep holds.
#pragma once

#include <string>
#include <vector>

#include "core/config/plugin_file.h"
#include "experiments/command/command.h"

namespace draftlab {

// A file that is asked for twice is returned once. Throws ConfigError where two configs give one
// name to two files.
std::vector<NamedPlugin> wanted_plugins(const Command& command, const CommandLine& line,
                                        const std::vector<std::string>& flags);

}  // namespace draftlab
