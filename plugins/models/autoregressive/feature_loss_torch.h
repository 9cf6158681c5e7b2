// The training loss of a feature head beside a frozen causal transformer: the head is trained as it
// drafts, pass after pass (EAGLE-3, Li et al., 2025).
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "plugins/models/autoregressive/causal_loss_torch.h"
#include "plugins/models/nn/training/schedules.h"
#include "plugins/models/nn/transformer/feature_head_torch.h"

namespace draftlab {

// The weights of the two parts of EAGLE's loss, as the authors' program has them.
inline constexpr double kStateWeight = 1, kTokenWeight = 0.1;

// What a pass of the head costs at the rows that tell an answer token, as means over them.
struct FeatureLoss {
  // The smooth L1 distance of the states, which EAGLE alone learns; undefined elsewhere.
  at::Tensor states;
  // The cross entropy in nats of the head's law under the target's law of the tokens that the head
  // knows, over the rows of whose tokens it knows the most probable one.
  at::Tensor tokens;
  // How much of the two laws overlaps: the acceptance of a draft after true ones.
  double overlap = 0;
  at::Tensor sum() const {
    return states.defined() ? kStateWeight * states + kTokenWeight * tokens : tokens;
  }
};

// Returns rows of a batch at which blocks begin, [n, count]: rows that tell an answer token, drawn,
// or without `chance` evenly spread.
at::Tensor block_anchors(const CausalBatch& batch, std::int64_t count, Uniforms* chance);

// What DFlash's layers cost at each draft of blocks that begin at `anchors`.
std::vector<FeatureLoss> block_losses(const FeatureHead& head, const CausalBatch& batch,
                                      const TargetReading& reading, const at::Tensor& anchors);

// Computes `passes` passes over the batch that was read. The first reads the target's states of the
// tokens before; each later one reads the states that the pass before it put out, and attends what
// drafts that follow drafts do (PassKeys). It is scored where all these drafts follow a prompt.
std::vector<FeatureLoss> feature_losses(const FeatureHead& head, const CausalBatch& batch,
                                        const TargetReading& reading, int passes);

// The mean over all passes' or drafts' losses, each weighing 0.8 times the one before (EAGLE-3's
// weights; DFlash's program has 0.78).
at::Tensor weighed(const std::vector<FeatureLoss>& passes);

}  // namespace draftlab
