// The transformer's full forward in fused kernels, differentiable. Trainers use it.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "plugins/models/nn/transformer/transformer_torch.h"

namespace draftlab {

// The rows of n canvases. Row r of a canvas sees its rows [0, a) and [b, c), given as `seen`.
struct TrainingRows {
  // The shape is [n, R], int64.
  at::Tensor ids;
  // The shape is [n, R], int64.
  at::Tensor position;
  // The shape is [n, R, 3], int32.
  at::Tensor seen;
};

// What a training does with the decoder's layers besides going through them.
struct LayerPass {
  // For each layer: 1 for the canvases that go through it, 0 for those that leave it out, [n, 1, 1]
  // f32. Empty means that every canvas goes through every layer.
  std::vector<at::Tensor> kept;
  // Is filled: what each layer but the last puts out, in the form in which training_hidden returns
  // the last one's.
  std::vector<at::Tensor> exits;
  // Is filled: what the encoder puts out, [n, S, d] f32, where there is one.
  at::Tensor encoded = {};
};

// Returns the hidden states after the final norm, [n, R - skipped, d] f32, of all rows but the
// first `skipped`, whose last output nobody needs. With `bf16`, matrix products are in bf16; norms
// and residuals stay f32. With an encoder, `source` holds its rows; row r of a canvas then sees the
// rows of the source that `source_seen` [n, R, 3] names. GPT-2's line cannot be trained here and
// throws DataError. With `pass`, layers are left out and their outputs kept as it says.
at::Tensor training_hidden(const Transformer& net, const TrainingRows& rows, std::int64_t skipped,
                           bool bf16, const TrainingRows& source = {},
                           const at::Tensor& source_seen = {}, LayerPass* pass = nullptr);

// Sends x [n, R, d] through the decoder's layers and the final norm, [n, R, d] f32. `encoded` is
// what an encoder made of a source, of which `source_seen` says what each row sees.
at::Tensor training_layers(const Transformer& net, const TrainingRows& rows, const at::Tensor& x,
                           bool bf16, const at::Tensor& encoded = {},
                           const at::Tensor& source_seen = {});

}  // namespace draftlab
