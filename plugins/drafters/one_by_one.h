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

struct OneByOneOptions {
  std::string shape;
  std::int64_t children = 1, wide = 0;
  Siblings siblings = Siblings::independent;
  void declare(OptionSet& set);
  // Throws ConfigError where the options contradict one another.
  TreeShape tree() const;
};

struct DrawnDraft {
  Token token;
  Distribution drawn_from;
};

// How the drafts of one node are drawn. Their random numbers are `attempt` and those after it, so
// nodes of one level begin with different ones.
struct SiblingDraws {
  Siblings siblings = Siblings::independent;
  // The index into the window of their position.
  std::size_t level = 0;
  std::uint32_t attempt = 0;
};

// Chooses at most `count` drafts of a node whose own law is `law`. The first draw is the one that
// may read the target's number. A token that cannot be drawn again is struck out, until none is
// left.
std::vector<DrawnDraft> siblings_of(const Step& step, const Distribution& law, std::int64_t count,
                                    const SiblingDraws& draws);

// Drafts decode.draft_length levels, or fewer where the window ends or decode.draft_rule ends every
// path; each level is one question to `model`. Every draft carries the distribution it was drawn
// from.
Asking<Proposal> draft_one_by_one(const Step& step, const OneByOneOptions& options, int model,
                                  bool shallow);

}  // namespace draftlab
