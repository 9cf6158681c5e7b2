// `--plugin FILE.py` and `--plugin unix:PATH`: parts of another process, registered like any other.
#pragma once

#include <string>

#include "core/config/plugin.h"
#include "plugins/remote/python_options.h"

namespace draftlab {

// Fills in what the environment says, and hands it on to the processes that a sweep starts.
// UsageError for a timeout that is none.
void complete(PythonOptions& options);

// The folder that holds the Python package `draftlab`: the one installed beside the program, or
// that of the tree in which it was built. "" when there is neither.
std::string python_package();

// Whether `--plugin` names a Python file or the address of a process, and not a library.
bool is_remote_plugin(const std::string& plugin);

// Starts or reaches the process and registers every class that it announces. ConfigError when it
// cannot; Fault when a name is taken.
void load_remote_plugin(const std::string& plugin, const PythonOptions& options,
                        Registries& registries);

// Interpreter, packages, files and digests of all that were loaded, for the trace. "" without any.
std::string remote_provenance();

}  // namespace draftlab
