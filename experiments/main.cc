// The program: it finds the command, loads plugins and runs the command.
#include <iostream>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "core/trace/provenance.h"
#include "experiments/commands.h"
#include "experiments/program.h"
#include "experiments/wanted_plugins.h"
#include "plugins/builtin.h"
#include "plugins/remote/python_plugin.h"

namespace draftlab {
namespace {

void print_help() {
  std::cout << "draftlab " << version()
            << ": a laboratory for parallel decoding\n\nusage: draftlab COMMAND ...\n\n";
  for (const Command& command : commands()) {
    const std::string usage =
        command.name + (command.arguments.empty() ? "" : " " + command.arguments);
    std::cout << "  " << usage << std::string(usage.size() < 24 ? 26 - usage.size() : 2, ' ')
              << command.summary << "\n";
  }
  std::cout << "\ndraftlab COMMAND --help says more. --plugin libmine.so loads plugins of your "
               "own, before any command.\n"
               "Begin with: "
            << program_name() << " run configs/quickstart.ini\n";
}

const Command& find_command(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (command.name == name) return command;
    names.push_back(command.name);
  }
  const std::string near = nearest(name, names);
  const std::string hint = near.empty() ? "see draftlab --help" : "did you mean '" + near + "'?";
  throw UsageError("there is no command '{}'; {}", name, hint);
}

// Loads the libraries and Python files that --plugin named, before the command or after it, in that
// order, and then those that its configs name.
void load_plugins(const Command& command, const std::vector<std::string>& before, Parsed& parsed,
                  Registries& registries) {
  parsed.python.twice = command.name == "certify";
  parsed.python.from_files = command.name == "sweep";
  complete(parsed.python);
  std::vector<std::string> flags = before;
  flags.insert(flags.end(), parsed.line.plugins.begin(), parsed.line.plugins.end());
  for (const NamedPlugin& plugin : wanted_plugins(command, parsed.line, flags)) {
    if (is_remote_plugin(plugin.path))
      load_remote_plugin(plugin, parsed.python, registries);
    else
      load_plugin(plugin, registries);
  }
  parsed.line.python = remote_provenance();
}

int main_of(std::vector<std::string> words) {
  // --plugin may stand before the command.
  std::vector<std::string> plugins;
  while (words.size() >= 2 && words[0] == "--plugin") {
    plugins.push_back(words[1]);
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    if (words.size() > 1 && words[0] == "help")
      print_help(find_command(words[1]), std::cout);
    else
      print_help();
    return words.empty() ? 64 : 0;
  }
  if (words[0] == "--version") {
    std::cout << "draftlab " << version() << "\n";
    return 0;
  }
  return run_command_line(find_command(words[0]), words,
                          [&](Parsed& parsed, Registries& registries) {
                            register_builtin_plugins(registries);
                            load_plugins(find_command(words[0]), plugins, parsed, registries);
                          });
}

}  // namespace
}  // namespace draftlab

int main(int argc, char** argv) {
  return draftlab::status_of([&] { return draftlab::main_of({argv + 1, argv + argc}); });
}
