// Whether the config of a sweep is still the one that its folder holds.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/config/composition.h"

namespace draftlab {

// How a config differs from the one that was frozen in `folder`, in a sentence; "" where every cell
// of that one is a cell of this one, too: the same config, perhaps with more axes or prompts.
std::string config_change(const std::string& folder, const Config& config,
                          const Registries& registries);

// The overrides of a config, where `--arm NEW` adds an arm to the sweep in `folder`: the arms that
// it has and NEW become the axis. As they are where there is no sweep of arms yet, or no such
// override.
std::vector<std::pair<std::string, std::string>> with_added_arms(
    const std::string& folder, const std::vector<std::pair<std::string, std::string>>& overrides);

// How the files of its parts differ from those that were frozen: one of a frozen name must hold
// what was frozen, because cells that are done were decoded by that.
std::string plugin_change(const std::string& folder, const Registries& registries);

}  // namespace draftlab
