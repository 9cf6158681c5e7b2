// What the command line says about Python files among the plugins.
#pragma once

#include <string>

namespace draftlab {

struct PythonOptions {
  // The Python interpreter that --python named; "" leaves the choice to interpreter.h.
  std::string interpreter;
  // How many seconds a call may take; 0 stands for DRAFTLAB_PYTHON_TIMEOUT, or else 60.
  double timeout = 0;
  // How many seconds all calls of a part in one step may take; 0 stands for
  // DRAFTLAB_PYTHON_STEP_TIMEOUT, or else ten times as long as one call.
  double step_timeout = 0;
  // File whose first line a server that --plugin names wants to hear; "" where it wants none.
  std::string secret;
  // Makes every decision twice, and refuses one that comes out differently.
  bool twice = false;
  // Refuses the address of a process, because a sweep's other workers could not find it.
  bool from_files = false;
};

}  // namespace draftlab
