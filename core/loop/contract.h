// What the loop checks of a proposal before others read it, so that a drafter's mistake is a
// sentence and no crash.
#pragma once

#include <string>

#include "core/model/canvas.h"
#include "core/parts/proposal.h"
#include "core/parts/verdict.h"

namespace draftlab {

// Throws a Fault that names the drafter and what breaks its contract (core/README.md). Drafts may
// stand beyond the window, where a drafter guesses what the next window will be.
void check_proposal(const std::string& drafter, const Proposal& proposal, const Canvas& canvas,
                    int vocabulary);

// The same for what an unmasker takes back: tentative tokens that stood there before the step, each
// once, and fewer than the step commits once the decoding is `late`.
void check_taken_back(const std::string& unmasker, const Verdict& verdict, const Canvas& canvas,
                      bool late);

}  // namespace draftlab
