// Python that a model wrote: taken out of its answer, and run in a sandbox.
#pragma once

#include <cstdint>
#include <string>

#include "core/config/options.h"

namespace draftlab {

// What stands between [BEGIN] and [DONE], else in the first ``` fence, else everything; an end that
// is missing is the text's.
std::string extracted_code(const std::string& answer);

struct PythonLimits {
  std::string python;  // the interpreter; empty: nothing runs
  std::int64_t seconds = 5, megabytes = 512;
  void declare(OptionSet& set);
  // Runs an empty program; ConfigError saying what is missing where that fails: the interpreter,
  // bwrap, or what bwrap needs.
  void check(const std::string& task) const;
};

// Whether a program runs to its end, without an error and within the limits, in a bubblewrap
// sandbox of its own: no network, the system and the interpreter's folder read-only and nothing
// else, a home and /tmp of memory, no environment, no other processes to see and none to start.
// Neither sys.exit nor os._exit counts as the end. OutputError when no process can be made.
bool python_succeeds(const std::string& program, const PythonLimits& limits);

}  // namespace draftlab
