// Drafts token after token, each given those before it. The answers come from a draft model, or
// from the target's first layers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/config/options.h"
#include "core/parts/drafter.h"
#include "plugins/drafters/tree_shape.h"

namespace draftlab {

// How the drafts of one node are chosen: each a draw; draws of which no two are alike; or one draw
// beside the most probable tokens.
enum class Siblings { independent, different, greedy };
constexpr std::array<std::string_view, 3> words(Siblings) {
  return {"independent", "different", "greedy"};
}

// What a draft says that it was drawn from: its own law, or that of the node's first draft.
enum class SiblingClaim { own, first };
constexpr std::array<std::string_view, 2> words(SiblingClaim) { return {"own", "first"}; }

struct OneByOneOptions {
  std::string shape;
  SiblingClaim claim = SiblingClaim::own;
  std::int64_t children = 1, wide = 0;
  Siblings siblings = Siblings::independent;
  void declare(OptionSet& set);
  // Throws ConfigError where the options contradict one another.
  TreeShape tree() const;
};

// Drafts decode.draft_length levels, or fewer where the window ends or decode.draft_rule ends every
// path; each level is one question to `model`. Every draft carries the distribution it was drawn
// from.
Asking<Proposal> draft_one_by_one(const Step& step, const OneByOneOptions& options, int model,
                                  bool shallow);

}  // namespace draftlab
