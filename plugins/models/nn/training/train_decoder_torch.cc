#include "plugins/models/nn/training/train_decoder_torch.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/words.h"

namespace draftlab {
namespace {

constexpr std::size_t kGrain = 16;

}  // namespace

Transformer first_network(const std::string& start, const TransformerConfig& config,
                          std::uint64_t seed) {
  if (start.empty()) return Transformer::random(config, seed, kSpread);
  Transformer net = Transformer::load(start);
  if (net.config.vocab_size != config.vocab_size)
    throw DataError("'{}' has a vocabulary of {}, the tokenizer one of {}", start,
                    net.config.vocab_size, config.vocab_size);
  return net;
}

Transformer decoder_network(const TrainDecoderOptions& o, const DecoderCorpus& corpus,
                            std::int64_t block_size, std::uint64_t seed) {
  TransformerConfig config = config_from_scratch(o);
  config.model_type = word(o.model_type);
  config.vocab_size = corpus.vocabulary;
  config.block_size = block_size;
  config.mask_token_id = corpus.mask;
  config.eos_token_id = {corpus.end};
  return first_network(o.start, config, seed);
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
