// The trainer `masked-diffusion` trains a decoder that sees its whole canvas and predicts the
// masked tokens (LLaDA, Dream).
#include "plugins/models/masked_diffusion/train_masked_diffusion.h"

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "plugins/models/nn/torch_module.h"

namespace draftlab {

void TrainMaskedDiffusionOptions::declare(OptionSet& set) {
  set.add("answer_tokens", &answer_tokens)
      .in(1, 1 << 16)
      .help(
          "Positions of an answer; behind its end token stand further end tokens, masked and "
          "predicted like the rest.");
  set.add("vary_length", &vary_length)
      .help(
          "Draws the positions of each answer, evenly from those that it needs up to "
          "answer_tokens.");
  set.add("noise", &noise)
      .help(
          "What stands where the model predicts: mask tokens, or the truth among uniform random "
          "tokens; a checkpoint of the latter has no mask token.");
  set.add("mask_min", &mask_min)
      .in(0, 1)
      .help("Lowest mask rate (or share of random tokens) t of an answer, drawn evenly up to 1.");
  set.add("inverse_weight", &inverse_weight)
      .help(
          "Weighs the loss of a masked token by 1/t, which makes it a bound of the likelihood; "
          "false: all alike.");
  set.add("semi_share", &semi_share)
      .in(0, 1)
      .help(
          "Share of canvases as semi-autoregressive decoding meets them: all is known before a "
          "block, all masked behind it, and the loss is the block's.");
  set.add("block_size", &block_size)
      .in(1, 4096)
      .help("Tokens of that block, which begins anywhere in the answer.");
  TrainDecoderOptions::declare(set);
}

void TrainMaskedDiffusionOptions::check() const {
  TrainDecoderOptions::check("masked-diffusion");
  if (noise == CanvasNoise::uniform && inverse_weight)
    throw ConfigError(
        "trainer.masked-diffusion.inverse_weight = true makes the loss of masks a bound, and noise "
        "= uniform has no masks; it must be false there");
}

namespace {

class MaskedDiffusionTrainer final : public Trainer {
 public:
  using Options = TrainMaskedDiffusionOptions;
  explicit MaskedDiffusionTrainer(const Options& options) : options_(options) { options_.check(); }

  void run(const TrainContext& context) override {
    train_decoder("masked-diffusion", options_, context, [&](const DecoderCorpus& corpus) {
      torch_function<decltype(draftlab_train_masked_diffusion)>("draftlab_train_masked_diffusion")(
          {corpus, options_}, context);
    });
  }

 private:
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(trainer, masked_diffusion) {
  registries.trainers.add<draftlab::MaskedDiffusionTrainer>(
      "masked-diffusion",
      "a decoder that fills masks anywhere in its canvas (LLaDA), from problems and programs");
}
