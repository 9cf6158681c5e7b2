// Whether the config of a sweep is still the one that its folder holds.
#pragma once

#include <string>
#include <vector>

#include "core/config/composition.h"

namespace draftlab {

// How a config differs from the one that was frozen in `folder`, in a sentence; "" where every cell
// of that one is a cell of this one, too: the same config, perhaps with more axes or prompts.
std::string config_change(const std::string& folder, const Config& config,
                          const Registries& registries);

// The same of the files of its parts: one of a frozen name must hold what was frozen, because cells
// that are done were decoded by that.
std::string plugin_change(const std::string& folder, const Registries& registries);

}  // namespace draftlab
