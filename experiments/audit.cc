#include "experiments/audit.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iostream>

#include "core/base/error.h"

namespace draftlab {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

int audit(const CommandLine& line, const Registries&) {
  const std::string named = variable("DRAFTLAB_PYTHON"), path = variable("PYTHONPATH");
  std::vector<std::string> words = {named.empty() ? "python3" : named, "-m", "draftlab.audit"};
  for (const auto& [flag, value] : line.flags) {
    words.push_back("--" + flag);
    words.push_back(value);
  }
  if (!line.paths.empty()) words.emplace_back("--");
  words.insert(words.end(), line.paths.begin(), line.paths.end());
  ::setenv("PYTHONPATH",
           (std::string(DRAFTLAB_PYTHON_PACKAGE) + (path.empty() ? "" : ":" + path)).c_str(), 1);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::cout.flush();
  ::execvp(arguments[0], arguments.data());
  throw Error(69, "'" + words[0] + "' cannot be started: " + std::strerror(errno) +
                      "; DRAFTLAB_PYTHON names the interpreter that audits run in");
}

}  // namespace draftlab
