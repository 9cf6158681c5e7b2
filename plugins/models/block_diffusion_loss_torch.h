// The training loss of block diffusion (BD3-LM; SDAR and Fast-dLLM v2 are trained by it): clean and noisy tokens in one forward.
// That of masked diffusion (LLaDA, Dream) is the same without clean ones. Differentiable; see transformer_torch.h for the general
// forward.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core/types.h"
#include "plugins/models/transformer_torch.h"

namespace draftlab {

// A canvas whose tokens are all true, and which of them the model has to tell.
struct NoisyCanvas {
  std::vector<Token> tokens;
  std::vector<char> masked;   // none before the first answer token
  int block = 1;              // its block size; 1 is autoregressive
  std::vector<float> weight;  // of each masked token's loss
};

// A batch as rows: all clean tokens of a canvas, then its noisy ones from the block on in which the first masked token stands
// (nothing sees earlier noisy rows, so they are left out). Clean rows see clean rows of their own and earlier blocks; noisy rows
// see clean rows of earlier blocks and noisy rows of their own. With block size 1 the clean rows are causal by token.
struct NoisyBatch {
  at::Tensor clean;     // [n, L] int64: ids; canvases are of one length
  at::Tensor noisy;     // [n, W] int64: ids, the mask where masked
  at::Tensor position;  // [n, L + W] int64
  at::Tensor seen;      // [n, L + W, 3] int32: a row sees rows [0, a) and [b, c) of its canvas
  at::Tensor scored;    // [s] int64: the rows that tell masked tokens (position-aligned: the masked ones), of all n * W noisy ones
  at::Tensor target;    // [s] int64
  at::Tensor weight;    // [s] f32
};
NoisyBatch noisy_batch(const std::vector<NoisyCanvas>& canvases, std::int64_t mask_token);
// Canvases that are one block each and may differ in length, so L = 0: every row is noisy and sees its whole canvas. Masked tokens of
// weight 0 are not scored. `shifted`: a row tells the token after its own.
NoisyBatch whole_batch(const std::vector<NoisyCanvas>& canvases, std::int64_t mask_token, bool shifted);

// Hidden states of the noisy rows after the final norm, [n, W, d]. `bf16`: matrix products in bf16; norms and residuals stay f32.
at::Tensor noisy_hidden(const Transformer& net, const NoisyBatch& batch, bool bf16);

// -log p(target) in nats of every scored row, f32 [scored].
at::Tensor masked_nll(const Transformer& net, const NoisyBatch& batch, bool bf16);

}  // namespace draftlab
