#include "core/config/unshown_axis.h"

namespace draftlab {
namespace {

// Returns the place of a key's line in [sweep].
std::string place_of(const std::string& key, const Sweep& sweep) {
  for (const Axis& axis : sweep.axes)
    for (const SharedEntry& entry : axis.values[0].keys)
      if (entry->key == key) return entry->where;
  return {};
}

bool has_option(const Registries& registries, const std::string& kind, const std::string& plugin,
                const std::string& option) {
  bool has = false;
  registries.each([&](const auto& registry) {
    const auto* const found = registry.kind() == kind ? registry.find(plugin) : nullptr;
    if (!found) return;
    Diagnostics none;
    for (const auto& [name, value] :
         found->bind(Config(), kind + "." + plugin, none, &registry).values)
      has = has || name == option;
  });
  return has;
}

}  // namespace

std::string unshown_axis(const std::string& key, const Sweep& sweep, const Registries& registries,
                         const std::set<std::string>& chosen) {
  const std::string begins = place_of(key, sweep) + ": [sweep] " + key + " has no effect: ",
                    ends = "drop the axis with --" + key + " VALUE";
  const std::size_t dot = key.find('.'), last = key.rfind('.');
  if (key == kDraftLength) return begins + "no drafter of this sweep reads it; " + ends;
  if (dot == last) return begins + "no cell has such a part; " + ends;
  const std::string kind = key.substr(0, dot), plugin = key.substr(dot + 1, last - dot - 1),
                    option = key.substr(last + 1);
  std::string names, instead;
  for (const std::string& name : chosen) {
    names += (names.empty() ? "" : ", ") + name;
    if (has_option(registries, kind, name, option))
      instead += (instead.empty() ? "write " : " or ") + kind + "." + name + "." + option + ", ";
  }
  return begins + "no cell has " + kind + " = " + plugin + " (they have " + names + "); " +
         instead + (instead.empty() ? "" : "or ") + ends;
}

}  // namespace draftlab
