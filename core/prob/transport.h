// The most that any rule of acceptance can reach with given drafts (SpecTr, Sun et al., 2023; Hu et
// al., 2025): an optimal transport between the law of the drafts and that of the target.
#pragma once

#include <span>

#include "core/prob/distribution.h"

namespace draftlab {

// Returns the greatest probability, over all rules whose results have the law `target`, that the
// result is one of the drafts. `drawn_from` holds for each draft of the node what it was drawn
// from. Drafts are independent of one another, or drawn without replacement: each law is then the
// one before it with the token of that draft struck out.
double transport_limit(const Distribution& target, std::span<const Distribution> drawn_from);

}  // namespace draftlab
