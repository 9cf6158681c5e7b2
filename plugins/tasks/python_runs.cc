#include "plugins/tasks/python_runs.h"

#include "core/error.h"
#include "plugins/tasks/sandbox.h"

namespace draftlab {
namespace {

constexpr int kReachedItsEnd = 113;  // how a program says so; leaving early with 0 is no success

std::string between(const std::string& text, std::size_t from, const std::string& end) { return text.substr(from, text.find(end, from) - from); }

SandboxResult run(const std::string& program, const PythonLimits& limits) {
  return run_in_sandbox({limits.python, "-I", "-B", "-"}, program + "\nraise SystemExit(" + std::to_string(kReachedItsEnd) + ")\n", {limits.seconds, limits.megabytes});
}

}  // namespace

std::string extracted_code(const std::string& answer) {
  const std::string begin = "[BEGIN]", fence = "```";
  if (const std::size_t at = answer.find(begin); at != std::string::npos) return between(answer, at + begin.size(), "[DONE]");
  if (const std::size_t at = answer.find(fence); at != std::string::npos) {
    const std::size_t line = answer.find('\n', at);  // what follows the fence on its line names the language
    return line == std::string::npos ? "" : between(answer, line + 1, fence);
  }
  return answer;
}

void PythonLimits::declare(OptionSet& set) {
  set.add("python", &python).help("interpreter that runs what was decoded with its tests, in a sandbox (bubblewrap), such as /usr/bin/python3; empty: nothing runs, and there is no score `correct`");
  set.add("seconds", &seconds).in(1, 3600).help("that one run may take");
  set.add("megabytes", &megabytes).in(16, 1 << 20).help("that one run may take");
}

void PythonLimits::check(const std::string& task) const {
  if (python.empty()) return;
  if (const SandboxResult result = run("", {python, 60, 4096}); result.status != kReachedItsEnd)
    throw ConfigError("task." + task + ".python = " + python + " cannot run: programs of a model run only in a bubblewrap sandbox, and " +
                      (result.message.empty() ? "this one ends with status " + std::to_string(result.status) : result.message));
}

bool python_succeeds(const std::string& program, const PythonLimits& limits) { return run(program, limits).status == kReachedItsEnd; }

}  // namespace draftlab
