// Whether the sandbox of programs works on this machine, for tests that run programs.
#pragma once

#include <iostream>

#include "core/base/error.h"
#include "plugins/tasks/benchmarks/python_runs.h"

namespace draftlab::testing {

constexpr const char* kPython = "/usr/bin/python3";

// Whether programs can be run here; says why not.
inline bool runs_python() {
  try {
    PythonLimits{kPython}.check("test");
    return true;
  } catch (const ConfigError& error) {
    std::cout << "no sandbox here, so it is not tested: " << error.what() << "\n";
    return false;
  }
}

}  // namespace draftlab::testing
