// Drafts token after token, each given those before it. The answers come from a draft model, or
// from the target's first layers.
#pragma once

#include <cstdint>
#include <string>

#include "core/config/options.h"
#include "core/parts/drafter.h"

namespace draftlab {

struct OneByOneOptions {
  double theta = 0;
  std::string below = "keep";
  std::int64_t children = 1, wide = 0;
  void declare(OptionSet& set);
};

// Drafts decode.draft_length levels, or fewer where the window ends or every path stopped; each
// level is one question to `model`. Every draft carries the distribution it was drawn from. Where
// nothing is left to draft, the target's own draw is proposed.
Asking<Proposal> draft_one_by_one(const Step& step, const OneByOneOptions& options, int model,
                                  bool shallow);

}  // namespace draftlab
