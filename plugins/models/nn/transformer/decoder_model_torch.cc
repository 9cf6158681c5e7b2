#include "plugins/models/nn/transformer/decoder_model_torch.h"

#include <algorithm>

#include "core/base/error.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"
#include "plugins/models/nn/kernels/machine_torch.h"

namespace draftlab {

void require_checkpoint(const std::string& checkpoint) {
  if (checkpoint.empty())
    throw ConfigError(
        "model.checkpoint must name a folder with config.json and model.safetensors, or a file of "
        "llama2.c");
}

ModelFacts decoder_facts(const LoadedDecoder& loaded, const std::string& checkpoint,
                         std::int64_t longest) {
  const TransformerConfig& config = loaded.net.config;
  ModelFacts facts;
  facts.vocabulary = static_cast<int>(config.vocab_size);
  const std::int64_t window = config.sliding_window;
  if (window > 0 && longest > window)
    throw ConfigError(
        "longest = {} is more than the 'sliding_window' of {} in {}/config.json: attention within "
        "a window is not implemented, and shorter canvases need none",
        longest, window, checkpoint);
  const std::int64_t own = config.max_position_embeddings;
  if (config.learned_positions() && longest > own)
    throw ConfigError(
        "longest = {} is more than the {} positions ('max_position_embeddings') of which "
        "{}/config.json has learned vectors",
        longest, own, checkpoint);
  facts.longest = static_cast<int>(longest > 0  ? longest
                                   : window > 0 ? std::min(own, window)
                                                : own);
  facts.mask = config.mask_token_id >= 0 ? static_cast<Token>(config.mask_token_id) : kNoToken;
  for (const std::int64_t stop : config.eos_token_id)
    facts.stops.push_back(static_cast<Token>(stop));
  facts.family = config.model_type;
  facts.checkpoint = checkpoint;
  facts.digest = weights_digest(checkpoint);
  facts.rounding = unit_roundoff(loaded.precision);
  for (const auto& [name, tensor] : loaded.net.named_parameters())
    facts.parameters += tensor.numel();
  return facts;
}

void check_canvas(const Canvas& canvas, const ModelFacts& facts, const std::string& who) {
  if (canvas.length() > facts.longest)
    throw ConfigError("a canvas of {} positions is longer than the {} that {} can hold",
                      canvas.length(), facts.longest, who);
  for (const Token token : canvas.tokens()) {
    if (token >= facts.vocabulary)
      throw ConfigError("prompt token {} lies outside the model's vocabulary of {}", token,
                        facts.vocabulary);
  }
}

LoadedDecoder DecoderModel::load_decoder(const std::string& checkpoint, ModelDtype dtype,
                                         const Machine& machine) {
  const std::optional<at::Device> tensors = tensor_device(machine);
  use_threads(machine.threads);
  LoadedDecoder loaded{tensors, precision_of(dtype, machine),
                       Transformer::load(checkpoint, std::nullopt)};
  own_kernels_ = !tensors;
  config_ = loaded.net.config;
  return loaded;
}

Distribution DecoderModel::law(const std::shared_ptr<at::Tensor>& logits, std::int64_t row) const {
  const float* const from = logits->data_ptr<float>() + row * facts_.vocabulary;
  return Distribution::from_logits(logits, {from, static_cast<std::size_t>(facts_.vocabulary)},
                                   facts_.mask);
}

}  // namespace draftlab
