// `draftlab completion bash|zsh` prints what a shell needs to complete commands, flags and the
// names of parts and figures: the words of all commands and their declared flags, and the keys of a
// config, as a function of bash, which zsh runs as well.
#include <iostream>

#include "analysis/figures/plot.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "experiments/command/parse.h"
#include "experiments/commands.h"
#include "experiments/describe.h"

namespace draftlab {
namespace {

// The flags of a command with their dashes, separated by blanks.
std::string flags_of(const Command& command) {
  OptionSet own;
  command.flags(own);
  std::string words;
  const auto add = [&](const std::string& flag) {
    if (!flag.empty()) words += (words.empty() ? "--" : " --") + flag;
  };
  for (const Option& option : own.options()) add(option.name());
  if (command.takes_config) {
    for (const Alias& alias : aliases()) add(alias.flag);
    for (const std::string& kind : part_kinds()) add(kind);
  }
  add(command.last);
  for (const CommonFlag& flag : common_flags()) add(flag.name);
  return words;
}

// Prints the case of a flag, or of a command, that takes the name of a part.
void print_case(const std::string& pattern, const std::string& words) {
  std::cout << "    " << pattern << ") words='" << words << "' ;;\n";
}

int completion(const CommandLine& line, const Registries& registries) {
  const std::string& shell = line.paths[0];
  if (shell != "bash" && shell != "zsh")
    throw UsageError("draftlab completion knows bash and zsh, and not '{}'", shell);
  if (shell == "zsh") std::cout << "autoload -U +X bashcompinit && bashcompinit\n";
  std::cout << "# Completion of draftlab: eval \"$(draftlab completion " << shell << ")\"\n"
            << "_draftlab() {\n"
               "  local words= word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
               "  case ${COMP_WORDS[1]} in\n";
  std::string names, every_part, every_kind, reads_config;
  for (const Command& command : commands()) {
    names += (names.empty() ? "" : " ") + command.name;
    if (command.takes_config)
      reads_config += (reads_config.empty() ? "" : "|") + command.name + ":--*.*";
    print_case(command.name, flags_of(command));
  }
  // A word with a dot is a key of a config.
  std::string keys;
  each_config_key(registries, [&](const std::string& key) { keys += " --" + key; });
  std::cout << "  esac\n  case ${COMP_WORDS[1]}:$word in\n    " << reads_config << ") words='"
            << keys.substr(1) << "' ;;\n  esac\n  case $before in\n";
  registries.each([&](const auto& registry) {
    std::string parts;
    for (const std::string& name : registry.names()) {
      parts += (parts.empty() ? "" : " ") + name;
      every_part += (every_part.empty() ? "" : " ") + registry.kind() + "." + name;
    }
    every_kind += (every_kind.empty() ? "" : " ") + registry.kind();
    print_case("--" + registry.kind(), parts);
  });
  print_case("describe", every_part);
  print_case("list", every_kind);
  print_case("completion", "bash zsh");
  print_case("help", joined(help_topics(registries), " "));
  std::string figure_names = "all";
  for (const FigureInfo& figure : figures()) figure_names += " " + figure.name;
  print_case("--figure", figure_names);
  std::cout << "  esac\n"
               "  [ $COMP_CWORD -eq 1 ] && words='"
            << names
            << "'\n"
               "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
               "  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$word\"))\n"
               "}\n"
               "complete -o filenames -F _draftlab draftlab ./draftlab\n";
  return 0;
}

}  // namespace

Command completion_command() {
  return {.name = "completion",
          .arguments = "bash|zsh",
          .summary = "a script with which a shell completes commands, flags and names of parts",
          .flags = without_flags(completion)};
}

}  // namespace draftlab
