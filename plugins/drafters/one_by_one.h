// Drafting token after token, each given those before it, with whatever answers: a draft model, or
// the target's first layers.
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

// decode.draft_length levels of drafts, fewer where the window ends or every path stopped; each
// level is one question to `model`. Every draft carries the distribution it was drawn from. Falls
// back to the target's own draw where nothing is left.
Asking<Proposal> draft_one_by_one(const Step& step, const OneByOneOptions& options, int model,
                                  bool shallow);

}  // namespace draftlab
