// The commands of the program. Each is a file of its name, or a folder with a header of its own.
#pragma once

#include <vector>

#include "experiments/command/command.h"

namespace draftlab {

// All commands, in the order of --help.
const std::vector<Command>& commands();

Command run_command();
Command chat_command();
Command train_command();
Command widen_command();
Command audit_command();
Command census_command();
Command recheck_command();
Command rerun_command();
Command results_command();
Command simulate_command();
Command import_command();
Command list_command();
Command describe_command();
Command report_command();
Command replay_command();
Command export_command();
Command inspect_command();
Command plot_command();
Command completion_command();
Command help_command();

// Prints the list of commands.
void print_overview();
// Returns the words that `draftlab help` knows.
std::vector<std::string> help_topics(const Registries& registries);

}  // namespace draftlab
