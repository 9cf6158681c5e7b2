// The program: it takes the command line apart, loads plugins, runs one command, and turns errors
// into exit statuses.
#include <malloc.h>

#include <iostream>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/config/plugin.h"
#include "core/trace/provenance.h"
#include "experiments/command/parse.h"
#include "experiments/commands.h"
#include "experiments/sections.h"
#include "experiments/sweep/sweep.h"
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
               "Begin with: draftlab run configs/quickstart.ini\n";
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

// Libraries and Python files, in the order in which they were named.
void load_plugins(const std::vector<std::string>& plugins, PythonOptions options,
                  Registries& registries) {
  complete(options);
  for (const std::string& plugin : plugins) {
    if (is_remote_plugin(plugin))
      load_remote_plugin(plugin, options, registries);
    else
      load_plugin(plugin, registries);
  }
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
  const std::vector<std::string> typed = words;
  const Command& command = find_command(words[0]);
  words.erase(words.begin());
  Parsed parsed = parse(command, std::move(words));
  if (parsed.help) return print_help(command, std::cout), 0;
  if (!parsed.log.empty()) open_log(parsed.log, parsed.log_level);
  log(LogLevel::info, "draftlab " + version() + ": " + joined(typed, " "));
  Registries registries;
  register_builtin_plugins(registries);
  register_sections(registries);
  plugins.insert(plugins.end(), parsed.line.plugins.begin(), parsed.line.plugins.end());
  parsed.line.plugins = plugins;
  if (command.name == "sweep" && plugins.empty()) plugins = frozen_plugins(parsed.line.paths[0]);
  parsed.python.twice = command.name == "certify";
  parsed.python.from_files = command.name == "sweep";
  load_plugins(plugins, parsed.python, registries);
  const int status = parsed.run(parsed.line, registries);
  log(LogLevel::info, "ends with status " + std::to_string(status));
  return status;
}

}  // namespace
}  // namespace draftlab

int main(int argc, char** argv) {
  // A cell takes and frees the same megabytes again and again. If they were given back to the
  // system at once, their pages would cost a quarter of the time in which its trace is made.
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  try {
    const int status = draftlab::main_of({argv + 1, argv + argc});
    std::cout.flush();
    if (!std::cout) throw draftlab::Error(74, "standard output cannot be written");
    return status;
  } catch (const draftlab::Error& error) {
    std::cout.flush();
    std::cerr << error.what() << "\n";
    draftlab::log(draftlab::LogLevel::error, error.what());
    return error.status();
  } catch (const std::exception& error) {
    std::cout.flush();
    std::cerr << "draftlab has a fault: " << error.what() << "\n";
    draftlab::log(draftlab::LogLevel::error, std::string("a fault: ") + error.what());
    return 70;
  }
}
