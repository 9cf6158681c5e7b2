// Reads the words after a command's name: its flags by Boost.Program_options, and the overrides of
// a config. Prints the help of a command.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "experiments/command/command.h"
#include "plugins/remote/python_options.h"

namespace draftlab {

// What a command line says.
struct Parsed {
  CommandLine line;
  // Runs the command with its flags, which have been read.
  RunCommand run;
  // Whether --help was among the words; nothing is to be run then.
  bool help = false;
  // Whether one of Command::without_plugins was among them.
  bool without_plugins = false;
  PythonOptions python;
  // Where the log goes, "" for nowhere, and what it holds.
  std::string log;
  LogLevel log_level = LogLevel::info;
};

// Throws UsageError for a flag that the command does not have, for a value that breaks the rule of
// its flag, and for too few or too many positional arguments.
Parsed parse(const Command& command, std::vector<std::string> words);

// A flag without a dot that sets a config key.
struct Alias {
  std::string flag, key;
  // The value that a switch sets; other flags take theirs from the command line.
  std::string value = {};
};
const std::vector<Alias>& aliases();

// The flags that every command has.
struct CommonFlag {
  std::string name, value, help;
};
const std::vector<CommonFlag>& common_flags();

// The kinds of parts, each of which is a key of a config: model, drafter, ...
std::vector<std::string> part_kinds();

void print_help(const Command& command, std::ostream& out);

// What the user called this program by, such as ./draftlab, for commands that are printed.
std::string program_name();

}  // namespace draftlab
