// A command of the program: what it is called, what it takes, and the flags that it declares. A
// command's flags are the fields of a struct, declared like the options of a plugin:
//
//   struct TrainFlags {
//     std::string out;
//     bool resume = false;
//     void declare(OptionSet& set) {
//       set.add("out", &out).help("Folder of the checkpoint.");
//       set.add("resume", &resume).help("Goes on with the training that the folder holds.");
//     }
//   };
//   int train(const TrainFlags& flags, const CommandLine& line, const Registries& registries);
//   Command train_command() {
//     return {.name = "train", .arguments = "CONFIG", .summary = "makes a checkpoint",
//             .takes_config = true, .flags = with_flags(train)};
//   }
//
// The command line, --help and the shells' completion are made of that one declaration.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/config/options.h"
#include "core/config/plugin.h"
#include "experiments/command/command_line.h"

namespace draftlab {

constexpr std::size_t kAnyNumber = 1000000;

// Runs a command whose flags have been read, and returns the exit status.
using RunCommand = std::function<int(const CommandLine&, const Registries&)>;

struct Command {
  std::string name, arguments, summary;
  // The number of positional arguments.
  std::size_t fewest = 1, most = 1;
  // Whether the command takes a config, and so the overrides of one.
  bool takes_config = false;
  // Switches with which the command loads no plugin, whatever its config names: it looks at what is
  // there and runs nothing of it.
  std::vector<std::string> without_plugins = {};
  // Declares the flags, and returns what runs the command once they have been read.
  std::function<RunCommand(OptionSet&)> flags;
  // A flag after which every word belongs to another program ("" for none), what follows it, and
  // its help.
  std::string last = {}, last_arguments = {}, last_help = {};
};

template <class Flags>
auto with_flags(int (*function)(const Flags&, const CommandLine&, const Registries&)) {
  return [function](OptionSet& set) -> RunCommand {
    const auto flags = std::make_shared<Flags>();
    flags->declare(set);
    return [flags, function](const CommandLine& line, const Registries& registries) {
      return function(*flags, line, registries);
    };
  };
}

// For a command without flags of its own.
inline auto without_flags(int (*function)(const CommandLine&, const Registries&)) {
  return [function](OptionSet&) -> RunCommand { return function; };
}

}  // namespace draftlab
