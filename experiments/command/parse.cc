#include "experiments/command/parse.h"

#include <errno.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <ostream>

#include "core/base/error.h"
#include "core/base/words.h"

namespace draftlab {
namespace {

namespace po = boost::program_options;

// Says whether a command has a flag of this name, which then takes the place of the common one or
// of the key.
bool declares(const OptionSet& own, const std::string& name) {
  return std::any_of(own.options().begin(), own.options().end(),
                     [&](const Option& option) { return option.name() == name; });
}

// Takes `--router.hysteresis.on 2`, `--drafter=ngram` and the aliases out of `words`. Every key
// takes exactly one value, which may begin with a dash. The words that are left are the command's
// own.
std::vector<std::pair<std::string, std::string>> take_overrides(std::vector<std::string>& words,
                                                                const OptionSet& own) {
  const std::vector<std::string> kinds = part_kinds();
  std::vector<std::pair<std::string, std::string>> overrides;
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::size_t equals = word.find('=');
    std::string key = word.compare(0, 2, "--") == 0
                          ? word.substr(2, equals == std::string::npos ? equals : equals - 2)
                          : "";
    const auto alias = std::find_if(aliases().begin(), aliases().end(),
                                    [&](const Alias& one) { return one.flag == key; });
    const bool known = alias != aliases().end();
    if (declares(own, key) || (!known && key.find('.') == std::string::npos &&
                               std::count(kinds.begin(), kinds.end(), key) == 0)) {
      rest.push_back(word);
      continue;
    }
    if (known) key = alias->key;
    if (known && !alias->value.empty() && equals == std::string::npos) {
      overrides.emplace_back(key, alias->value);
      continue;
    }
    if (equals == std::string::npos && i + 1 == words.size())
      throw UsageError("--{} needs a value", key);
    overrides.emplace_back(key, equals == std::string::npos ? words[++i] : word.substr(equals + 1));
  }
  words = rest;
  return overrides;
}

// Says which flag was probably meant.
[[noreturn]] void refuse_flag(const Command& command, const OptionSet& flags, std::string word) {
  std::vector<std::string> known;
  for (const CommonFlag& flag : common_flags()) known.push_back(flag.name);
  for (const Option& option : flags.options()) known.push_back(option.name());
  if (command.takes_config) {
    for (const Alias& alias : aliases()) known.push_back(alias.flag);
    for (const std::string& kind : part_kinds()) known.push_back(kind);
  }
  word.erase(0, word.find_first_not_of('-'));
  const std::string near = nearest(word, known);
  throw UsageError(
      "draftlab {} has no flag --{}; {}", command.name, word,
      near.empty() ? "see draftlab " + command.name + " --help" : "did you mean --" + near + "?");
}

// Takes the words behind the command's last flag, which belong to another program.
void take_last(const Command& command, std::vector<std::string>& words, CommandLine& line) {
  const auto last = std::find(words.begin(), words.end(), "--" + command.last);
  if (command.last.empty() || last == words.end()) return;
  line.passes = true;
  line.passed.assign(last + 1, words.end());
  words.erase(last, words.end());
}

// Reads the text of one flag into its field.
void read(const Command& command, OptionSet& set, const std::string& name,
          const std::string& text) {
  if (text.empty())
    throw UsageError("draftlab {}: --{} is empty; leave it out for its default", command.name,
                     name);
  const std::string rule = set.read(name, text);
  if (!rule.empty()) throw UsageError("draftlab {}: --{} {} {}", command.name, name, text, rule);
}

// Takes the words apart by the flags that there are.
po::variables_map values_of(const std::vector<std::string>& words,
                            const po::options_description& flags, const Command& command,
                            const OptionSet& own) {
  po::positional_options_description positional;
  positional.add("paths", -1);
  po::variables_map values;
  try {
    const int style =
        po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    po::store(
        po::command_line_parser(words).options(flags).positional(positional).style(style).run(),
        values);
    po::notify(values);
  } catch (const po::unknown_option& unknown) {
    refuse_flag(command, own, unknown.get_option_name());
  } catch (const po::error& error) {
    throw UsageError("draftlab {}: {}", command.name, error.what());
  }
  return values;
}

}  // namespace

const std::vector<Alias>& aliases() {
  static const std::vector<Alias> all = {
      {"device", "run.device"},
      {"dtype", "run.dtype"},
      {"threads", "run.threads"},
      {"batch", "run.batch"},
      {"seed", "run.seed"},
      {"limit", "run.limit"},
      {"arm", "arm"},
      {"fixed-shape", "run.fixed_shape", "true"},
  };
  return all;
}

const std::vector<CommonFlag>& common_flags() {
  static const std::vector<CommonFlag> all = {
      {"plugin", "FILE",
       "Loads plugins from a shared library or a Python file; it may be repeated."},
      {"python", "PATH",
       "Interpreter of Python files. Default: DRAFTLAB_PYTHON, or a python3 that has numpy."},
      {"python-timeout", "SECONDS", "How long a call of one may take. Default: 60."},
      {"python-step-timeout", "SECONDS",
       "How long all calls of one in a step may take. Default: ten times that of a call."},
      {"plugin-secret", "FILE",
       "File whose first line a server that --plugin names wants to hear, as over TCP."},
      {"log", "FILE", "Appends a log of what is done to a file; - for standard error."},
      {"log-level", "LEVEL", "debug (every sample), info, warning or error. Default: info."},
      {"help", "", "Prints this."},
  };
  return all;
}

std::vector<std::string> part_kinds() {
  std::vector<std::string> names;
  Registries().each([&](const auto& registry) { names.push_back(registry.kind()); });
  return names;
}

Parsed parse(const Command& command, std::vector<std::string> words) {
  Parsed parsed;
  CommandLine& line = parsed.line;
  OptionSet own;
  parsed.run = command.flags(own);
  take_last(command, words, line);
  line.overrides = take_overrides(words, own);
  if (!command.takes_config && !line.overrides.empty()) {
    throw UsageError("draftlab {} reads no config, so --{} means nothing to it", command.name,
                     line.overrides[0].first);
  }

  po::options_description flags;
  using Value = const po::value_semantic*;
  const auto add = [&](const std::string& name, Value value) {
    flags.add_options()(name.c_str(), value);
  };
  add("help,h", po::bool_switch(&parsed.help));
  add("plugin", po::value(&line.plugins)->composing());
  add("python", po::value(&parsed.python.interpreter));
  add("python-timeout", po::value(&parsed.python.timeout));
  add("python-step-timeout", po::value(&parsed.python.step_timeout));
  add("plugin-secret", po::value(&parsed.python.secret));
  if (!declares(own, "log")) add("log", po::value(&parsed.log));
  std::string level(word(parsed.log_level));
  add("log-level", po::value(&level));
  add("paths", po::value(&line.paths));
  for (const Option& option : own.options())
    add(option.name(), option.is_switch() ? Value(po::bool_switch()) : po::value<std::string>());
  const po::variables_map values = values_of(words, flags, command, own);
  OptionSet common;
  common.add("log-level", &parsed.log_level);
  read(command, common, "log-level", level);
  for (const Option& option : own.options()) {
    const std::string& name = option.name();
    if (values.count(name) == 0 || values[name].defaulted()) continue;
    read(command, own, name, option.is_switch() ? "true" : values[name].as<std::string>());
    const std::vector<std::string>& without = command.without_plugins;
    if (std::find(without.begin(), without.end(), name) == without.end()) continue;
    parsed.without_plugins = true;
    if (!line.plugins.empty())
      throw UsageError("draftlab {}: --{} loads no plugins, so --plugin means nothing to it",
                       command.name, name);
  }
  if (!parsed.help && (line.paths.size() < command.fewest || line.paths.size() > command.most)) {
    throw UsageError("usage: draftlab {}{}", command.name,
                     command.arguments.empty() ? "" : " " + command.arguments);
  }
  return parsed;
}

void print_help(const Command& command, std::ostream& out) {
  OptionSet own;
  const RunCommand holds_the_fields = command.flags(own);
  const auto row = [&](const std::string& flag, const std::string& help) {
    out << "  --" << flag << std::string(flag.size() < 22 ? 22 - flag.size() : 2, ' ') << help
        << "\n";
  };
  const auto with_value = [](const std::string& flag, const std::string& value) {
    return value.empty() ? flag : flag + " " + value;
  };
  out << "usage: draftlab " << command.name << " " << command.arguments << "\n\n"
      << command.summary << "\n\n";
  for (const Option& option : own.options()) {
    const bool said = option.is_switch() || option.value().empty();
    row(with_value(option.name(), option.is_switch() ? "" : "VALUE"),
        option.help() + (said ? "" : " Default: " + option.value() + "."));
  }
  if (command.takes_config) {
    for (const Alias& alias : aliases())
      row(with_value(alias.flag, alias.value.empty() ? "VALUE" : ""), "Sets " + alias.key + ".");
    row("SECTION.KEY VALUE",
        "Sets any key of the config, and beats the file: --drafter ngram --decode.draft_length 3");
  }
  if (!command.last.empty()) row(command.last + " " + command.last_arguments, command.last_help);
  for (const CommonFlag& flag : common_flags())
    if (!declares(own, flag.name)) row(with_value(flag.name, flag.value), flag.help);
  out << "\ndraftlab list shows the parts, draftlab describe KIND.NAME their options.\n";
}

std::string program_name() { return program_invocation_name; }

}  // namespace draftlab
