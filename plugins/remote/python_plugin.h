// `--plugin FILE.py` and `--plugin unix:PATH` register parts that live in another process.
#pragma once

#include <string>

#include "core/config/plugin.h"
#include "plugins/remote/python_options.h"

namespace draftlab {

// Fills in what the environment says, and hands it on to the processes that a sweep starts. Throws
// UsageError for a timeout that is none, and ConfigError for an interpreter that is no program.
void complete(PythonOptions& options);

// Returns the folder that holds the Python package `draftlab`: the one installed beside the
// program, or that of the tree in which it was built; "" when there is neither.
std::string python_package();

// Says whether a plugin is a Python file or the address of a process, and not a library.
bool is_remote_plugin(const std::string& path);

// Starts or reaches the process and registers every class that it announces. Throws ConfigError
// when it cannot, and Fault when a name is taken.
void load_remote_plugin(const NamedPlugin& plugin, const PythonOptions& options,
                        Registries& registries);

// Says whether parts of this process, which may be models of a server, live in another one.
bool has_remote_parts();

// Returns the interpreters, packages, files and digests of all that were loaded, for the trace; ""
// when none was.
std::string remote_provenance();

}  // namespace draftlab
