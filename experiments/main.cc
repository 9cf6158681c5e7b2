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
// order, and then those that its configs name. Where the command only looks, none are.
void load_plugins(const Command& command, const std::vector<std::string>& before, Parsed& parsed,
                  Registries& registries) {
  if (parsed.without_plugins) {
    if (!before.empty())
      throw UsageError("draftlab {} loads no plugins here, so --plugin means nothing to it",
                       command.name);
    return;
  }
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
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    print_overview();
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
