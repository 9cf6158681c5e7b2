// Commands whose work a module of the Python package does; their files declare the flags.
#pragma once

#include <string>
#include <vector>

#include "core/config/options.h"

namespace draftlab {

// Becomes `python3 -m MODULE --FLAG VALUE... -- PATHS`, with the interpreter that DRAFTLAB_PYTHON
// names. Returns only by throwing, where it cannot be started.
[[noreturn]] void become_python_module(const std::string& module, const OptionSet& flags,
                                       const std::vector<std::string>& paths);

}  // namespace draftlab
