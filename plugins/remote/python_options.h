// What the command line says about Python files among the plugins.
#pragma once

#include <string>

namespace draftlab {

struct PythonOptions {
  std::string interpreter;  // "": DRAFTLAB_PYTHON, or python3
  double timeout = 0;       // seconds that a call may take; 0: DRAFTLAB_PYTHON_TIMEOUT, or 60
  bool twice = false;       // every decision is made twice, and must come out the same
  bool from_files = false;  // refuses parts that live in a process: others could not find them
};

}  // namespace draftlab
