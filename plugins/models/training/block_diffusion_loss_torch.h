// The training loss of block diffusion (BD3-LM; SDAR and Fast-dLLM v2 are trained by it): clean and
// noisy tokens in one forward. That of masked diffusion (LLaDA, Dream) is the same without clean
// ones. Differentiable; see transformer_torch.h for the general forward.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core/prob/types.h"
#include "plugins/models/transformer/transformer_torch.h"

namespace draftlab {

// A canvas whose tokens are all true, and which of them the model has to tell.
struct NoisyCanvas {
  std::vector<Token> tokens;
  std::vector<char> masked;   // none before the first answer token, which is not the canvas's first
  int block = 1;              // its block size; 1 is autoregressive
  std::vector<float> weight;  // of each masked token's loss
};

// A batch as rows: all clean tokens of a canvas, then its noisy ones from the block on in which the
// first masked token stands (nothing sees earlier noisy rows, so they are left out). Clean rows see
// clean rows of their own and earlier blocks; noisy rows see clean rows of earlier blocks and noisy
// rows of their own. With block size 1 the clean rows are causal by token. A masked token is told
// by its own row, or right-shifted by the row before: a noisy one, and of a block's first token the
// clean one before the block, as decoding asks it. So right-shifted canvases of block size 1 need
// no noisy rows.
struct NoisyBatch {
  at::Tensor clean;          // [n, L] int64: ids; canvases are of one length
  at::Tensor noisy;          // [n, W] int64: ids, the mask where masked
  at::Tensor position;       // [n, L + W] int64
  at::Tensor seen;           // [n, L + W, 3] int32: a row sees rows [0, a) and [b, c) of its canvas
  std::int64_t skipped = 0;  // clean rows at each canvas's beginning that no masked token is told
                             // by; R = L + W - skipped
  at::Tensor scored;         // [s] int64: the rows that tell the masked tokens, of all n * R others
  at::Tensor target;         // [s] int64
  at::Tensor weight;         // [s] f32
};
NoisyBatch noisy_batch(const std::vector<NoisyCanvas>& canvases, std::int64_t mask_token,
                       bool shifted);
// Canvases that are one block each and may differ in length, so L = 0 and nothing is skipped: every
// row is noisy and sees its whole canvas. Masked tokens of weight 0 are not scored. `shifted`: a
// row tells the token after its own.
NoisyBatch whole_batch(const std::vector<NoisyCanvas>& canvases, std::int64_t mask_token,
                       bool shifted);

// Hidden states after the final norm of all rows but the skipped ones, [n, R, d]. `bf16`: matrix
// products in bf16; norms and residuals stay f32.
at::Tensor noisy_hidden(const Transformer& net, const NoisyBatch& batch, bool bf16);

// -log p(target) in nats of every scored row, f32 [scored].
at::Tensor masked_nll(const Transformer& net, const NoisyBatch& batch, bool bf16);

}  // namespace draftlab
