// The network that the trainers of decoder-only transformers start from, and the canvases that it
// is shown.
#pragma once

#include <vector>

#include "plugins/models/nn/training/block_diffusion_loss_torch.h"
#include "plugins/models/nn/training/train_decoder.h"
#include "plugins/models/nn/transformer/transformer_torch.h"

namespace draftlab {

// Returns the network of `start`, or random weights of `model_type` with blocks of `block_size`.
// Throws DataError when the vocabularies differ.
Transformer decoder_network(const TrainDecoderOptions& options, const DecoderCorpus& corpus,
                            std::int64_t block_size, std::uint64_t seed);

// Returns the example, filled up to `length` with end tokens: what follows the end of an answer is
// that end again.
NoisyCanvas canvas_of(const WorkedExample& example, Token end, std::size_t length);

// Returns the length of the longest example, rounded up to a multiple of 16.
std::size_t common_length(const std::vector<const WorkedExample*>& examples);

}  // namespace draftlab
