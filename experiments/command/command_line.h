// The words that the user typed, taken apart: what every command may be given. The flags that are a
// command's own are in a struct of the command (command.h).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace draftlab {

struct CommandLine {
  // The positional arguments after the command.
  std::vector<std::string> paths = {};
  // Dotted config keys and their values, which override the config file.
  std::vector<std::pair<std::string, std::string>> overrides = {};
  // The libraries and Python files that --plugin named.
  std::vector<std::string> plugins = {};
  // The interpreter, packages and digests of these Python files, for a trace; "" without any.
  std::string python = {};
  // Whether the command's last flag (Command::last) was given, and the words after it, which belong
  // to another program.
  bool passes = false;
  std::vector<std::string> passed = {};
};

}  // namespace draftlab
