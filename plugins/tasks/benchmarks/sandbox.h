// Programs of others, run by bubblewrap (bwrap) where they can do no harm.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace draftlab {

struct SandboxLimits {
  std::int64_t seconds = 5;      // The seconds of wall time, and of CPU time of a process.
  std::int64_t megabytes = 512;  // The megabytes of address space.
};

struct SandboxResult {
  int status = -1;  // The exit status; -1 where it was killed, by a limit or otherwise.
  // The last kilobytes that were written to the standard error, or why nothing could be started.
  std::string message;
};

// What runs: an absolute path and arguments, with `input` as its standard input.
struct Sandboxed {
  std::vector<std::string> command;
  std::string input;
};

// Runs a program. It sees the
// system (/usr and what belongs to it) and the folder above the one that the command lies in,
// read-only; nothing that it could write to; no network, no /proc, no other process, no variable of
// the environment and no descriptor but the standard ones. It can start no process: fork and its
// like fail. Started by root it runs as nobody, outside as well as inside. At the end of the time
// everything in the sandbox is killed. OutputError when no process can be made.
SandboxResult run_in_sandbox(const Sandboxed& program, const SandboxLimits& limits);

// Runs two programs, each in such a sandbox of its own, with one socket as the standard output of
// both. Returns how the first ended; the second is killed then.
SandboxResult run_against(const Sandboxed& judge, const Sandboxed& judged,
                          const SandboxLimits& limits);

}  // namespace draftlab
