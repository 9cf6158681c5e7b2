// What this machine is, and what on it makes experiments slow or wrong. `draftlab doctor` prints
// it.
#pragma once

#include <string>

namespace draftlab {

// Returns what to say at the start of a run: one sentence when products are slow, and "" when they
// are not.
std::string blas_warning();

}  // namespace draftlab
