// Checks that the parts of a composition fit together: that the router has its estimator, that the
// models answer what is asked, that vectors meet no part made for ids.
#pragma once

#include <set>

#include "core/config/composition.h"

namespace draftlab {

// Makes the parts once, because constructors check what one option's range cannot, and because the
// parts then say what they will ask of the model. Models are not made, since that can load a
// library. Returns the options of [decode] that parts of the arm read.
std::set<DecodeKey> check_parts(const Composition& arm, const Config& config,
                                const Registries& registries, Diagnostics& diagnostics);

}  // namespace draftlab
