#include "plugins/tasks/benchmarks/python_runs.h"

#include <sys/random.h>

#include <cstdint>
#include <utility>

#include "core/base/error.h"
#include "plugins/tasks/benchmarks/sandbox.h"

namespace draftlab {
namespace {

// This Python program reads a secret and the program from the standard input, which it then
// empties, and runs the program; whoever reaches its end writes the secret. A program that leaves
// early, whatever its status, does not know the secret, and cannot read its own tests.
constexpr const char* kRunner = R"(
def run():
    import os, sys
    write = os.write
    secret, program = sys.stdin.buffer.read().split(b"\n", 1)
    nothing = os.open("/dev/null", os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    exec(compile(program, "<program>", "exec"), globals())
    write(2, secret)
run()
)";

std::string new_secret() {
  std::uint64_t bits[2];
  if (getrandom(bits, sizeof bits, 0) != sizeof bits)
    throw OutputError("the kernel gives no random numbers");
  return std::to_string(bits[0]) + "-" + std::to_string(bits[1]);
}

std::string between(const std::string& text, std::size_t from, const std::string& end) {
  return text.substr(from, text.find(end, from) - from);
}

struct Run {
  // Whether the program reached its end.
  bool succeeded;
  SandboxResult result;
};

Run run(const std::string& program, const PythonLimits& limits) {
  const std::string secret = new_secret();
  SandboxResult result =
      run_in_sandbox({limits.python, "-I", "-B", "-c", kRunner}, secret + "\n" + program + "\n",
                     {limits.seconds, limits.megabytes});
  const bool succeeded = result.status == 0 && result.message.find(secret) != std::string::npos;
  return {succeeded, std::move(result)};
}

}  // namespace

std::string extracted_code(const std::string& answer) {
  const std::string begin = "[BEGIN]", fence = "```";
  if (const std::size_t at = answer.find(begin); at != std::string::npos)
    return between(answer, at + begin.size(), "[DONE]");
  if (const std::size_t at = answer.find(fence); at != std::string::npos) {
    // What follows the fence on its line names the language.
    const std::size_t line = answer.find('\n', at);
    return line == std::string::npos ? "" : between(answer, line + 1, fence);
  }
  return answer;
}

void PythonLimits::declare(OptionSet& set) {
  set.add("python", &python)
      .help(
          "Interpreter that runs what was decoded with its tests, in a sandbox (bubblewrap), such "
          "as /usr/bin/python3; empty: nothing runs, and there is no score `correct`.");
  set.add("seconds", &seconds).in(1, 3600).help("Seconds that one run may take.");
  set.add("megabytes", &megabytes).in(16, 1 << 20).help("Megabytes that one run may take.");
}

void PythonLimits::check(const std::string& task) const {
  if (python.empty()) return;
  const auto [succeeded, result] = run("", {python, 60, 4096});
  if (succeeded) return;
  throw ConfigError(
      "task.{}.python = {} cannot run: programs of a model run only in a bubblewrap sandbox, and "
      "{}",
      task, python,
      result.message.empty() ? "this one ends with status " + std::to_string(result.status)
                             : result.message);
}

bool python_succeeds(const std::string& program, const PythonLimits& limits) {
  return run(program, limits).succeeded;
}

}  // namespace draftlab
