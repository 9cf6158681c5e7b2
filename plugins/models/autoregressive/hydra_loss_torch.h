// The training loss of Hydra's heads beside a frozen causal transformer.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "plugins/models/autoregressive/causal_loss_torch.h"
#include "plugins/models/autoregressive/hydra_heads_torch.h"

namespace draftlab {

// What a head costs at the rows behind which it tells an answer token, as means over them.
struct HydraLoss {
  // The cross entropy in nats of the head's law under the target's.
  at::Tensor tokens;
  // How much of the two laws overlaps: the acceptance of a draft behind drafts that were accepted.
  double overlap = 0;
};

// The loss of head `head` (from 0), which reads the true tokens where it would read drafts. The
// batch is the one that was read.
HydraLoss hydra_loss(const HydraHeads& heads, const CausalBatch& batch,
                     const TargetReading& reading, int head);

}  // namespace draftlab
