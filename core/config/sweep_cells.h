// From one config with [sweep] to its cells: expand() of composition.h, and its form for
// certificates.
#pragma once

#include <vector>

#include "core/config/composition.h"

namespace draftlab {

// As expand(), except that two cells which decode alike stay apart where their [reference] or
// [certify] differ: they are two claims.
std::vector<Cell> expand_claims(const Config& config, const Registries& registries,
                                Diagnostics& diagnostics);

}  // namespace draftlab
