#include "experiments/sweep/sweep_change.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "experiments/sweep/sweep_folder.h"

namespace draftlab {
namespace {

std::string shown(const Config::Entry* entry) {
  return entry ? "'" + entry->value + "'" : "not given";
}

// The first key that two configs give different values, parts and options before axes. Files of
// plugins are not compared: the frozen config names copies.
std::string different_key(const Config& before, const Config& now) {
  std::set<std::string> keys;
  for (const Config* const config : {&before, &now})
    for (const Config::Entry* const entry : config->entries()) keys.insert(entry->key);
  for (const bool axes : {false, true}) {
    for (const std::string& key : keys) {
      const Config::Entry *const was = before.find(key), *const is = now.find(key);
      if (key.starts_with("plugins.") || key.starts_with("sweep.") != axes ||
          (was && is && was->value == is->value))
        continue;
      return key + " was " + shown(was) + " and is " + shown(is);
    }
  }
  return "other parts have these names";
}

}  // namespace

std::string config_change(const std::string& folder, const Config& config,
                          const Registries& registries) {
  const std::string frozen = folder + "/config.ini";
  if (!std::filesystem::exists(frozen)) return {};
  Diagnostics diagnostics, gone;
  const Config before = Config::read(frozen, {}, gone),
               now = Config::parse(to_text(config), "config.ini", diagnostics);
  diagnostics.raise();
  const std::vector<Cell> cells = expand(now, registries, diagnostics);
  diagnostics.raise();
  std::set<std::string> ids;
  for (const Cell& cell : cells) ids.insert(cell.id);
  const std::vector<Cell> old = expand(before, registries, gone);
  const bool kept = gone.empty() && std::all_of(old.begin(), old.end(), [&](const Cell& cell) {
                      return ids.count(cell.id) > 0;
                    });
  if (kept) return {};
  return "'" + folder + "' holds a sweep of another config: " + different_key(before, now) +
         "; name another folder with --out, or give --replace to remove what that one decoded";
}

std::vector<std::pair<std::string, std::string>> with_added_arms(
    const std::string& folder, const std::vector<std::pair<std::string, std::string>>& overrides) {
  const std::string frozen = folder + "/config.ini";
  if (!std::filesystem::exists(frozen)) return overrides;
  Diagnostics gone;
  const Config before = Config::read(frozen, {}, gone);
  const Config::Entry* const arms = before.find("sweep.arm");
  if (!arms) return overrides;
  std::vector<std::pair<std::string, std::string>> result;
  for (const auto& [key, value] : overrides) {
    if (key != "arm") {
      result.emplace_back(key, value);
      continue;
    }
    bool there = false;
    std::istringstream names(arms->value);
    for (std::string name; std::getline(names >> std::ws, name, ',');) there |= name == value;
    result.emplace_back("sweep.arm", arms->value + (there ? "" : ", " + value));
  }
  return result;
}

std::string plugin_change(const std::string& folder, const Registries& registries) {
  if (!std::filesystem::exists(folder + "/config.ini")) return {};
  for (const NamedPlugin& frozen : SweepFolder::plugins(folder)) {
    for (const auto& file : registries.files) {
      if (file->name != frozen.name || file->digest == frozen.digest) continue;
      return "'" + file->path + "' has changed since the sweep in '" + folder +
             "' was frozen; name another folder with --out, or give --replace to decode all of it "
             "again (draftlab sweep " +
             folder + " goes on with the file as it was)";
    }
  }
  return {};
}

}  // namespace draftlab
