// Takes the Python that a model wrote out of its answer, and runs it in a sandbox.
#pragma once

#include <cstdint>
#include <string>

#include "core/config/options.h"

namespace draftlab {

// Returns what stands between [BEGIN] and [DONE], else what stands in the first ``` fence, else
// everything. Where the end mark is missing, the end of the text serves.
std::string extracted_code(const std::string& answer);

struct PythonLimits {
  // The interpreter. Where it is empty, nothing runs.
  std::string python;
  std::int64_t seconds = 5, megabytes = 512;
  void declare(OptionSet& set);
  // Runs an empty program. Where that fails, throws ConfigError saying what is missing: the
  // interpreter, bwrap, or what bwrap needs.
  void check(const std::string& task) const;
};

// Says whether a program runs to its end, without an error and within the limits, in a bubblewrap
// sandbox of its own: it has no network, sees the system and the interpreter's folder read-only and
// nothing else, has a home and /tmp in memory and no environment, and can neither see other
// processes nor start any. Neither sys.exit nor os._exit counts as the end. Throws OutputError when
// no process can be made.
bool python_succeeds(const std::string& program, const PythonLimits& limits);

}  // namespace draftlab
