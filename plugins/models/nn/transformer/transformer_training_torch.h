// The transformer's full forward in fused kernels, differentiable. Trainers use it.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "plugins/models/nn/transformer/pass_keys_torch.h"
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

// Canvases on their way through a network.
struct TrainingCanvases {
  TrainingRows rows;
  // With an encoder: its rows, and which of them each row of a canvas sees, [n, R, 3].
  TrainingRows source = {};
  at::Tensor source_seen = {};
  // How many first rows of every canvas have a last output that nobody needs.
  std::int64_t skipped = 0;
};

// What a training does with the decoder's layers besides going through them.
struct LayerPass {
  // For each layer: 1 for the canvases that go through it, 0 for those that leave it out, [n, 1, 1]
  // f32. Empty means that every canvas goes through every layer.
  std::vector<at::Tensor> kept;
  // Is filled: what each layer but the last puts out, in the form in which training_hidden returns
  // the last one's.
  std::vector<at::Tensor> exits;
  // Is filled: what enters the first layer and what each layer puts out, before any norm and of all
  // rows that are computed, [n, R, d] f32.
  std::vector<at::Tensor> raw = {};
  // Is filled: what the encoder puts out, [n, S, d] f32, where there is one.
  at::Tensor encoded = {};
};

// Returns the hidden states after the final norm, [n, R - skipped, d] f32, of all rows but the
// first `skipped`. With `bf16`, matrix products are in bf16; norms and residuals stay f32. GPT-2,
// LLaDA2 and SEDD cannot be trained here and throw DataError. With `pass`, layers are left out and
// their outputs kept as it says.
at::Tensor training_hidden(const Transformer& net, const TrainingCanvases& canvases, bool bf16,
                           LayerPass* pass = nullptr);

// What enters the decoder's layers: x [n, R, d], and with an encoder what it made of the source,
// [n, S, d].
struct LayerInput {
  at::Tensor x, encoded = {};
  // What a layer that is twice as wide reads in front of its own rows, [n, R, d].
  at::Tensor beside = {};
  // Rows that lend every layer keys and values, as they are, [n, C, d], at the positions 0 to C
  // - 1. What a row sees (TrainingRows) counts them first.
  at::Tensor lent = {};
  // With it, this is a pass of one layer behind those whose keys it holds, and adds its own.
  PassKeys* passes = nullptr;
};

// Sends x through the decoder's layers and the final norm, [n, R, d] f32; no row is skipped.
at::Tensor training_layers(const Transformer& net, const TrainingCanvases& canvases,
                           const LayerInput& input, bool bf16);

}  // namespace draftlab
