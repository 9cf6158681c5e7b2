#include "plugins/tasks/benchmarks/python_runs.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "plugins/tasks/benchmarks/python_sides.h"
#include "plugins/tasks/benchmarks/sandbox.h"

namespace draftlab {
namespace {

// The judge's exit status for a case that is wrong itself (judge.py).
constexpr int kWrongCase = 3;

std::string between(const std::string& text, std::size_t from, const std::string& end) {
  return text.substr(from, text.find(end, from) - from);
}

SandboxResult run(const PythonCase& asked, const PythonLimits& limits) {
  const auto runs = [&](const char* side, const std::string& input) {
    return Sandboxed{{limits.python, "-I", "-B", "-c", std::string(kPeers) + side}, input};
  };
  const nlohmann::json judged = {
      {"entry", asked.entry}, {"reference", asked.reference}, {"tests", asked.tests}};
  return run_against(runs(kJudge, judged.dump()), runs(kJudged, asked.program),
                     {limits.seconds, limits.megabytes});
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
  const SandboxResult result = run({}, {python, 60, 4096});
  if (result.status == 0) return;
  throw ConfigError(
      "task.{}.python = {} cannot run: programs of a model run only in a bubblewrap sandbox, and "
      "{}",
      task, python,
      result.message.empty() ? "this one ends with status " + std::to_string(result.status)
                             : result.message);
}

bool python_succeeds(const PythonCase& asked, const PythonLimits& limits) {
  const SandboxResult result = run(asked, limits);
  if (result.status == kWrongCase)
    throw DataError("the benchmark's own solution of {} or its tests cannot be run: {}",
                    asked.entry.empty() ? "a question" : asked.entry, result.message);
  return result.status == 0;
}

}  // namespace draftlab
