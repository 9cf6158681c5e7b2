// Applies [reference] to a config, and finds the sections of a sweep that have no effect.
#include <algorithm>
#include <set>

#include "core/config/composition.h"

namespace draftlab {

Config reference_of(const Config& config) {
  Config reference = config;
  for (const char* const section : {"reference", "certify"}) {
    for (const Config::Entry* entry : config.section(section)) reference.erase(entry->key);
  }
  const auto overrides = config.section("reference");
  if (overrides.empty()) {
    throw ConfigError(
        "{} names no reference; write [reference] with what it changes, such as drafter = stepwise",
        file_of(config));
  }
  for (const Config::Entry* entry : overrides) {
    reference.set(
        {entry->key.substr(std::string("reference.").size()), entry->value, entry->where});
  }
  return reference;
}

std::vector<std::string> without_effect(const std::vector<Cell>& cells,
                                        const Registries& registries) {
  std::vector<std::string> kinds = {"model.draft", "model.judge"}, common;
  registries.each([&](const auto& registry) { kinds.push_back(registry.kind()); });
  // The choices of plugins; what else a config says plays no part here.
  std::set<std::string> seen;
  bool first = true;
  const auto keep = [&](const Config& config) {
    std::string choice;
    for (const std::string& kind : kinds) {
      const Config::Entry* const entry = config.find(kind);
      choice += (entry ? entry->value : "") + "\n";
    }
    if (!seen.insert(choice).second) return;
    Faults ignored;
    std::vector<std::string> warnings;
    compose(config, registries, ignored, &warnings);
    if (first)
      common = warnings;
    else
      std::erase_if(common, [&](const std::string& w) {
        return std::count(warnings.begin(), warnings.end(), w) == 0;
      });
    first = false;
  };
  for (const Cell& cell : cells) {
    if (!first && common.empty()) break;
    keep(cell.config);
    if (!cell.config.section("reference").empty()) keep(reference_of(cell.config));
  }
  return common;
}

}  // namespace draftlab
