// The trainer `block-diffusion` trains a decoder that denoises blocks and can also predict one
// token at a time (S2D2, BD3-LM).
#include "plugins/models/block_diffusion/train_block_diffusion.h"

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "plugins/models/nn/torch_module.h"

namespace draftlab {

void TrainBlockDiffusionOptions::declare(OptionSet& set) {
  set.add("block_size", &block_size)
      .in(1, 4096)
      .help(
          "Tokens of a block, which begins at a multiple; of several sizes a canvas draws one, and "
          "one that is listed twice twice as often.");
  set.add("causal_share", &causal_share)
      .in(0, 1)
      .help("Share of canvases with blocks of one token, all masked: autoregressive.");
  set.add("warm_steps", &warm_steps)
      .in(0, 1e12)
      .help("Number of leading steps with autoregressive canvases only.");
  set.add("mask_min", &mask_min)
      .in(0, 1)
      .help("Lowest mask rate t of a block, which is drawn evenly up to 1.");
  set.add("inverse_weight", &inverse_weight)
      .help(
          "Weighs the loss of a masked token by 1/t, which makes it a bound of the likelihood; "
          "false: all alike.");
  set.add("validate_answers", &validate_answers)
      .in(0, 1e6)
      .help(
          "How many of the held-out canvases a validation answers one token at a time, greedily "
          "and sampled.");
  TrainDecoderOptions::declare(set);
}

namespace {

class BlockDiffusionTrainer final : public Trainer {
 public:
  using Options = TrainBlockDiffusionOptions;
  explicit BlockDiffusionTrainer(const Options& options) : options_(options) {
    options_.check("block-diffusion");
    require(options_.validate_answers <= options_.validate_canvases,
            "trainer.block-diffusion.validate_answers must not exceed validate_canvases");
    require(!options_.block_size.empty(),
            "trainer.block-diffusion.block_size must name at least one size");
  }

  void run(const TrainContext& context) override {
    train_decoder("block-diffusion", options_, context, [&](const DecoderCorpus& corpus) {
      torch_function<decltype(draftlab_train_block_diffusion)>("draftlab_train_block_diffusion")(
          {corpus, options_}, context);
    });
  }

 private:
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(trainer, block_diffusion) {
  registries.trainers.add<draftlab::BlockDiffusionTrainer>(
      "block-diffusion",
      "a decoder that denoises block by block (SDAR, Fast-dLLM v2), from problems and programs");
}
