// A tree over drafts whose laws are told for all levels at once: by prediction heads, or by one
// forward of a diffusion model. All nodes of a level have the same law, their marginal, and the
// tree is made of the product of the marginals.
#pragma once

#include <cstdint>

#include "core/parts/step.h"

namespace draftlab {

struct MarginalTree {
  std::int64_t width = 1, nodes = 1;
  // How often the draft model is asked what follows each node of the tree, which then grows again.
  std::int64_t corrections = 0;
  // Whether the target's prediction heads tell the laws, and not the draft model.
  bool heads = false;
  // Whether tokens are drawn. The shape is that of the most probable paths all the same, and each
  // node keeps its number of drafts: they are drawn without replacement from the law of their
  // level, and say what they were drawn from. It needs `corrections` to be 0.
  bool drawn = false;
};

// Drafts decode.draft_length levels, or fewer where the window ends or where the last verification
// answered fewer heads. `options` outlives the step.
Asking<Proposal> grow_marginal_tree(const Step& step, const MarginalTree& options);

}  // namespace draftlab
