#include "plugins/remote/interpreter.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/text.h"

extern char** environ;

namespace draftlab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOfSystem = "/usr/bin/python3";
constexpr const char* kOthers = "--python and DRAFTLAB_PYTHON name another interpreter";

bool can_run(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

// Returns the path of a program that a word names; "" where there is none.
std::string found(const std::string& word) {
  if (word.find('/') != std::string::npos) return can_run(word) ? word : "";
  const char* const path = std::getenv("PATH");
  const std::string folders = path ? path : "";
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const fs::path file = fs::path(folders.substr(begin, end - begin)) / word;
    if (can_run(file)) return file.string();
    begin = end + 1;
  }
  return {};
}

// Says whether an interpreter has all of the packages, without importing them.
bool has(const std::string& python, const std::vector<std::string>& packages) {
  std::vector<std::string> words = {python, "-c",
                                    "import sys, importlib.util as u\n"
                                    "sys.exit(any(u.find_spec(m) is None for m in sys.argv[1:]))"};
  words.insert(words.end(), packages.begin(), packages.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  ::posix_spawn_file_actions_init(&quiet);
  for (const int descriptor : {0, 1, 2})
    ::posix_spawn_file_actions_addopen(&quiet, descriptor, "/dev/null", O_RDWR, 0);
  pid_t process = -1;
  const int failed =
      ::posix_spawn(&process, python.c_str(), &quiet, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&quiet);
  int status = 1;
  if (!failed)
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {}
  return !failed && status == 0;
}

}  // namespace

bool is_program(const std::string& word) { return !found(word).empty(); }

std::string interpreter(const std::vector<std::string>& packages) {
  const char* const named = std::getenv("DRAFTLAB_PYTHON");
  if (named && *named) return named;
  const std::string first = found("python3"), wanted = joined(packages, " and ");
  std::string without;
  for (const std::string& python : {first, std::string(kOfSystem)}) {
    if (python.empty() || !can_run(python)) continue;
    if (!has(python, packages)) {
      if (without.find(python) == std::string::npos)
        without += (without.empty() ? "" : " and ") + python;
      continue;
    }
    if (!without.empty()) {
      const std::string sentence =
          without + " has not " + wanted + ", so Python files run in " + python + "; " + kOthers;
      std::cerr << sentence << "\n";
      log(LogLevel::warning, sentence);
    }
    ::setenv("DRAFTLAB_PYTHON", python.c_str(), 1);
    return python;
  }
  throw ConfigError(
      "Python files need an interpreter that has {}, and {}; Debian's packages are python3-numpy "
      "and python3-msgpack, and {}",
      wanted, without.empty() ? "there is no python3" : without + " has not", kOthers);
}

}  // namespace draftlab
