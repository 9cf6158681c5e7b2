#include "plugins/models/nn/training/train_decoder_torch.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/words.h"

namespace draftlab {
namespace {

constexpr std::size_t kGrain = 16;
// The standard deviation of random weights; 0.02 is for wider models.
constexpr double kSpread = 0.05;

}  // namespace

Transformer decoder_network(const TrainDecoderOptions& o, const DecoderCorpus& corpus,
                            std::int64_t block_size, std::uint64_t seed) {
  if (!o.start.empty()) {
    Transformer net = Transformer::load(o.start);
    if (net.config.vocab_size != corpus.vocabulary)
      throw DataError("'{}' has a vocabulary of {}, the tokenizer one of {}", o.start,
                      net.config.vocab_size, corpus.vocabulary);
    return net;
  }
  TransformerConfig config;
  config.model_type = word(o.model_type);
  config.vocab_size = corpus.vocabulary;
  config.hidden_size = o.width;
  config.num_hidden_layers = o.layers;
  config.num_attention_heads = o.heads;
  config.num_key_value_heads = o.groups;
  config.head_dim = o.head;
  config.intermediate_size = o.inner;
  config.rope.theta = 1e4;
  config.max_position_embeddings = 4096;
  config.tie_word_embeddings = o.tied;
  config.block_size = block_size;
  config.mask_token_id = corpus.mask;
  config.eos_token_id = {corpus.end};
  return Transformer::random(config, seed, kSpread);
}

NoisyCanvas canvas_of(const WorkedExample& example, Token end, std::size_t length) {
  NoisyCanvas canvas{example.tokens, std::vector<char>(length, 0), 1,
                     std::vector<float>(length, 1.0f)};
  canvas.tokens.resize(length, end);
  return canvas;
}

std::size_t common_length(const std::vector<const WorkedExample*>& examples) {
  std::size_t length = 0;
  for (const WorkedExample* example : examples) length = std::max(length, example->tokens.size());
  return (length + kGrain - 1) / kGrain * kGrain;
}

}  // namespace draftlab
