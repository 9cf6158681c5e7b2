// Finds the sections of a sweep that have no effect in any of its cells.
#include <algorithm>
#include <set>

#include "core/config/composition.h"

namespace draftlab {

std::vector<std::string> without_effect(const std::vector<Cell>& cells,
                                        const Registries& registries) {
  std::vector<std::string> kinds = {"model.draft", "model.judge"}, common;
  registries.each([&](const auto& registry) { kinds.push_back(registry.kind()); });
  // The choices of plugins; what else a config says plays no part here.
  std::set<std::string> seen;
  bool first = true;
  for (const Cell& cell : cells) {
    if (!first && common.empty()) break;
    const Config& config = cell.config;
    std::string choice;
    for (const std::string& kind : kinds) {
      const Config::Entry* const entry = config.find(kind);
      choice += (entry ? entry->value : "") + "\n";
    }
    if (!seen.insert(choice).second) continue;
    Diagnostics ignored;
    const std::vector<std::string> warnings = composition_of(cell, registries, ignored).warnings;
    if (first)
      common = warnings;
    else
      std::erase_if(common, [&](const std::string& w) {
        return std::count(warnings.begin(), warnings.end(), w) == 0;
      });
    first = false;
  }
  return common;
}

}  // namespace draftlab
