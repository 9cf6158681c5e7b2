// The training loss of an AS-ARM: the joint conditional log-probability of what is not prompt (Eq.
// 7), with both streams in one forward. It is differentiable; xlnet_torch.h has the general
// forward.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "core/prob/types.h"
#include "plugins/models/xlnet/arrangement.h"
#include "plugins/models/xlnet/xlnet_torch.h"

namespace draftlab {

// A batch of canvases of one length, every position filled with its true token.
struct AnySubsetBatch {
  std::vector<std::vector<Token>> tokens;
  std::vector<Arrangement> arrangements;
  // Counts the tokens of rank >= prompt.
  std::int64_t scored() const;
};

// Returns -log p(token | prompt and earlier ranks) in nats of every scored token, f32 [scored],
// sample by sample, with positions ascending. With `bf16`, matrix products are in bf16; norms,
// residuals, softmax and the loss stay f32.
at::Tensor any_subset_nll(const Xlnet& net, const AnySubsetBatch& batch, bool bf16);

}  // namespace draftlab
