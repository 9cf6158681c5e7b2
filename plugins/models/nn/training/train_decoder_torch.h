// The network that the trainers of decoder-only transformers start from, and the canvases that it
// is shown.
#pragma once

#include <string>
#include <vector>

#include "plugins/models/nn/training/block_diffusion_loss_torch.h"
#include "plugins/models/nn/training/train_decoder.h"
#include "plugins/models/nn/transformer/transformer_torch.h"

namespace draftlab {

// Returns the config of a model that a trainer makes from scratch, with the dimensions that its
// options name.
template <class Options>
TransformerConfig config_from_scratch(const Options& o) {
  TransformerConfig config;
  config.hidden_size = o.width;
  config.num_hidden_layers = o.layers;
  config.num_attention_heads = o.heads;
  config.num_key_value_heads = o.groups;
  config.head_dim = o.head;
  config.intermediate_size = o.inner;
  config.rope.theta = 1e4;
  config.max_position_embeddings = 4096;
  config.tie_word_embeddings = o.tied;
  return config;
}

// The standard deviation of random weights; 0.02 is for wider models.
inline constexpr double kSpread = 0.05;

// Returns the network of the checkpoint `start`, or where that is empty random weights. Throws
// DataError when the checkpoint has another vocabulary than the config.
Transformer first_network(const std::string& start, const TransformerConfig& config,
                          std::uint64_t seed);

// Returns the network of `start`, or random weights of `model_type` with blocks of `block_size`.
Transformer decoder_network(const TrainDecoderOptions& options, const DecoderCorpus& corpus,
                            std::int64_t block_size, std::uint64_t seed);

// Returns the example, filled up to `length` with end tokens: what follows the end of an answer is
// that end again.
NoisyCanvas canvas_of(const WorkedExample& example, Token end, std::size_t length);

// Returns the length of the longest example, rounded up to a multiple of 16.
std::size_t common_length(const std::vector<const WorkedExample*>& examples);

}  // namespace draftlab
