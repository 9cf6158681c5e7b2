// The training loss of block diffusion (BD3-LM; SDAR and Fast-dLLM v2 are trained by it), with
// clean and noisy tokens in one forward. The loss of masked diffusion (LLaDA, Dream) is the same
// without clean tokens. It is differentiable; transformer_torch.h has the general forward.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core/prob/types.h"
#include "plugins/models/nn/transformer/transformer_torch.h"

namespace draftlab {

// A canvas whose tokens are all true, and which of them the model has to predict.
struct NoisyCanvas {
  std::vector<Token> tokens;
  // No token before the first answer token is masked, and the first answer token is not the
  // canvas's first.
  std::vector<char> masked;
  // The block size of the canvas; 1 is autoregressive.
  int block = 1;
  // The weight of each masked token's loss.
  std::vector<float> weight;
  // What stands in the place of each masked token; empty: the mask token. Only for whole_batch.
  std::vector<Token> shown = {};
};

// A batch as rows: all clean tokens of a canvas, then its noisy ones from the block on in which the
// first masked token stands (nothing sees earlier noisy rows, so they are left out). Clean rows see
// clean rows of their own and earlier blocks; noisy rows see clean rows of earlier blocks and noisy
// rows of their own. With block size 1 the clean rows are causal by token. A masked token is
// predicted by its own row, or right-shifted by the row before: by a noisy row, and for a block's
// first token by the clean row before the block, as decoding asks it. So right-shifted canvases of
// block size 1 need no noisy rows.
struct NoisyBatch {
  // The ids of the clean tokens, [n, L] int64; canvases are of one length.
  at::Tensor clean;
  // The ids of the noisy tokens, [n, W] int64, with the mask token where masked.
  at::Tensor noisy;
  // The positions, [n, L + W] int64.
  at::Tensor position;
  // What rows see, [n, L + W, 3] int32: a row sees rows [0, a) and [b, c) of its canvas.
  at::Tensor seen;
  // The number of clean rows at each canvas's beginning that predict no masked token; R = L + W -
  // skipped.
  std::int64_t skipped = 0;
  // The rows that predict the masked tokens, [s] int64, as indices into the n * R rows that are not
  // skipped.
  at::Tensor scored;
  // The masked tokens, [s] int64.
  at::Tensor target;
  // Their weights, [s] f32.
  at::Tensor weight;
};
NoisyBatch noisy_batch(const std::vector<NoisyCanvas>& canvases, std::int64_t mask_token,
                       bool shifted);
// Makes a batch of canvases that are one block each and may differ in length, so L = 0 and nothing
// is skipped: every row is noisy and sees its whole canvas. Masked tokens of weight 0 are not
// scored. With `shifted`, a row predicts the token after its own.
NoisyBatch whole_batch(const std::vector<NoisyCanvas>& canvases, std::int64_t mask_token,
                       bool shifted);

// Returns the hidden states after the final norm of all rows but the skipped ones, [n, R, d]. With
// `bf16`, matrix products are in bf16; norms and residuals stay f32.
at::Tensor noisy_hidden(const Transformer& net, const NoisyBatch& batch, bool bf16);

// Returns -log p(target) in nats of every scored row, f32 [scored].
at::Tensor masked_nll(const Transformer& net, const NoisyBatch& batch, bool bf16);

}  // namespace draftlab
