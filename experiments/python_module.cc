#include "experiments/python_module.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "core/base/error.h"
#include "plugins/remote/interpreter.h"
#include "plugins/remote/python_plugin.h"

namespace draftlab {
void become_python_module(const std::string& module, const OptionSet& flags,
                          const std::vector<std::string>& paths) {
  const char* const path = std::getenv("PYTHONPATH");
  std::vector<std::string> words = {interpreter({"numpy"}), "-m", module};
  for (const Option& option : flags.options()) {
    // One word holds both, because a value may begin with a dash.
    if (!option.value().empty()) words.push_back("--" + option.name() + "=" + option.value());
  }
  if (!paths.empty()) words.emplace_back("--");
  words.insert(words.end(), paths.begin(), paths.end());
  ::setenv("PYTHONPATH", (python_package() + (path ? ":" + std::string(path) : "")).c_str(), 1);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::cout.flush();
  ::execvp(arguments[0], arguments.data());
  throw Error(69, "'" + words[0] + "' cannot be started: " + std::strerror(errno) +
                      "; --python and DRAFTLAB_PYTHON name another interpreter");
}

}  // namespace draftlab
