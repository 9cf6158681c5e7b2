// What `draftlab describe` and `draftlab help` say of parts and of the sections of a config.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/config/plugin.h"

namespace draftlab {

// Prints the options of a section, or of the parts of that name ("router.never", or "never" for
// parts of any kind). Returns false where there is none.
bool describe(const std::string& name, const Registries& registries);

// Returns the names that describe() knows: sections, and parts as KIND.NAME.
std::vector<std::string> described_names(const Registries& registries);

// Returns the name that was probably meant, or "".
std::string nearest_described(const std::string& name, const Registries& registries);

// Visits each key that a config may set, such as "drafter.self.shortcut".
void each_config_key(const Registries& registries,
                     const std::function<void(const std::string&)>& visit);

}  // namespace draftlab
