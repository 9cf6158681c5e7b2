// Two decodes that have reached equal states must go on alike; a certificate that merges them
// relies on it. Here such decodes are run on side by side, so that a part whose state() leaves
// something out is found.
#pragma once

#include <cstdint>
#include <vector>

#include "core/config/composition.h"
#include "core/loop/decoder.h"

namespace draftlab {

// The choices of two decodes of one prompt that have reached one state after `steps` steps.
struct MergedPair {
  const std::vector<int>& first;
  const std::vector<int>& second;
  int steps = 0;
  // Chooses how both go on.
  std::uint64_t trial = 0;
};

// Runs both decodes to their ends by the same further choices. Throws a Fault that names the part
// whose doing differs first.
void run_on(const Composition& composition, const Models& models, const Prompt& prompt,
            const MergedPair& pair);

}  // namespace draftlab
