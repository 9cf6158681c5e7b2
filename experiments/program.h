// What every program of draftlab does: it runs one command, and turns errors into exit statuses.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/config/plugin.h"
#include "experiments/command/command.h"
#include "experiments/command/parse.h"

namespace draftlab {

// Registers the plugins of a program, and those that a command line asks for.
using RegisterPlugins = std::function<void(Parsed&, Registries&)>;

// Runs a command. The first word is its name, and the others are taken apart by its flags.
int run_command_line(const Command& command, const std::vector<std::string>& words,
                     const RegisterPlugins& register_plugins);

// Runs a program, says what went wrong, and returns the exit status of the process.
int status_of(const std::function<int()>& program);

}  // namespace draftlab
