// What the loop checks of a proposal before others read it, so that a drafter's mistake is a
// sentence and no crash.
#pragma once

#include <string>

#include "core/parts/proposal.h"
#include "core/parts/window.h"

namespace draftlab {

// Throws a Fault that names the drafter and what breaks its contract (core/README.md).
void check_proposal(const std::string& drafter, const Proposal& proposal, const Window& window,
                    int vocabulary);

}  // namespace draftlab
