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

// A program of a model, and what a benchmark says of the function that it asks for.
struct PythonCase {
  std::string program;
  // Where `entry` names a function, tests take it from the program and everything else from
  // `reference`, the benchmark's own solution. Otherwise they take whatever that solution defines
  // from the program.
  std::string entry = {}, reference = {}, tests = {};
};

// Says whether a program runs to its end and passes its tests, without an error and within the
// limits. It runs in a bubblewrap sandbox: it has no network, sees the system and the interpreter's
// folder read-only and nothing else, has no environment, and can neither see other processes nor
// start any. Its tests run in an interpreter and a sandbox of their own (judge.py), which asks the
// program for values only and compares them itself. Throws OutputError when no process can be made,
// and DataError when the benchmark's own solution or its tests cannot be run.
bool python_succeeds(const PythonCase& asked, const PythonLimits& limits);

}  // namespace draftlab
