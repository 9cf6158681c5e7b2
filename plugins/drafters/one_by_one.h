// Drafts token after token, each given those before it. The answers come from a draft model, or
// from the target's first layers.
#pragma once

#include <cstdint>

#include "core/config/options.h"
#include "core/parts/drafter.h"

namespace draftlab {

struct OneByOneOptions {
  std::int64_t children = 1, wide = 0;
  void declare(OptionSet& set);
};

// Drafts decode.draft_length levels, or fewer where the window ends or decode.draft_rule ends every
// path; each level is one question to `model`. Every draft carries the distribution it was drawn
// from.
Asking<Proposal> draft_one_by_one(const Step& step, const OneByOneOptions& options, int model,
                                  bool shallow);

}  // namespace draftlab
