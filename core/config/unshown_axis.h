// What a user is told of an axis of a sweep that no cell shows: it varies an option of a part that
// none of them has.
#pragma once

#include <set>
#include <string>

#include "core/config/plugin.h"
#include "core/config/sweep_axes.h"
#include "core/config/unread.h"

namespace draftlab {

// Returns the sentence. `chosen` are the plugins of the key's kind that cells have.
std::string unshown_axis(const std::string& key, const Sweep& sweep, const Registries& registries,
                         const std::set<std::string>& chosen);

}  // namespace draftlab
