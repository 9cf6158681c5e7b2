// The commands of the program. Each is a file of its name; those of sweeps, certificates and
// benchmarks are in their folders.
#pragma once

#include <vector>

#include "experiments/command/command.h"

namespace draftlab {

// All commands, in the order of --help.
const std::vector<Command>& commands();

Command run_command();
Command train_command();
Command distill_command();
Command audit_command();
Command list_command();
Command describe_command();
Command check_command();
Command report_command();
Command replay_command();
Command export_command();
Command inspect_command();
Command plot_command();
Command check_trace_command();
Command golden_command();
Command doctor_command();
Command completion_command();

}  // namespace draftlab
