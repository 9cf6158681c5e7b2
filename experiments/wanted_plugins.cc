#include "experiments/wanted_plugins.h"

#include <algorithm>
#include <filesystem>

namespace draftlab {
namespace {

namespace fs = std::filesystem;

// Returns what [plugins] of a config names. What is wrong with the config is left to the command,
// which reads it again and says so.
std::vector<NamedPlugin> of_config(const std::string& path, const CommandLine& line) {
  Diagnostics diagnostics, of_plugins;
  std::vector<NamedPlugin> plugins;
  try {
    plugins = named_plugins(Config::read(path, line.overrides, diagnostics), of_plugins);
  } catch (const DataError&) {
    return {};
  }
  of_plugins.raise();
  return plugins;
}

// Returns the config that a word of the command line names; "" where it names something else.
std::string config_at(const std::string& path) {
  std::error_code error;
  const std::string of_sweep = path + "/config.ini";
  if (fs::is_regular_file(path + "/sweep.json", error) && fs::is_regular_file(of_sweep, error))
    return of_sweep;
  return fs::is_regular_file(path, error) && !path.ends_with(".h5") ? path : "";
}

NamedPlugin* named(std::vector<NamedPlugin>& plugins, const std::string& name) {
  const auto found = std::find_if(plugins.begin(), plugins.end(),
                                  [&](const NamedPlugin& one) { return one.name == name; });
  return found == plugins.end() ? nullptr : &*found;
}

}  // namespace

std::vector<NamedPlugin> wanted_plugins(const Command& command, const CommandLine& line,
                                        const std::vector<std::string>& flags) {
  std::vector<NamedPlugin> of_configs, wanted;
  for (const std::string& path : line.paths) {
    const std::string config = command.takes_config ? config_at(path) : "";
    if (config.empty()) continue;
    for (const NamedPlugin& plugin : of_config(config, line)) {
      const NamedPlugin* const other = named(of_configs, plugin.name);
      if (!other)
        of_configs.push_back(plugin);
      else if (!same_path(other->path, plugin.path))
        throw ConfigError("{}, but {}: one name stands for two files", plugin.said, other->said);
    }
  }
  for (const std::string& flag : flags) {
    NamedPlugin plugin = plugin_flag(flag);
    const auto is_same = [&](const NamedPlugin& one) { return same_path(one.path, plugin.path); };
    if (std::any_of(of_configs.begin(), of_configs.end(), is_same)) continue;
    const std::string stem = plugin.name;
    for (int n = 2; named(of_configs, plugin.name) || named(wanted, plugin.name); ++n)
      plugin.name = stem + "-" + std::to_string(n);
    wanted.push_back(std::move(plugin));
  }
  wanted.insert(wanted.end(), of_configs.begin(), of_configs.end());
  return wanted;
}

}  // namespace draftlab
