// The trainer `mar` trains a masked autoregressive model of images whose tokens are vectors (Li et
// al., 2024), or its causal variant.
#include "plugins/models/mar/train_mar.h"

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/config/plugin.h"
#include "plugins/models/nn/torch_module.h"

namespace draftlab {

void TrainMarOptions::declare(OptionSet& set) {
  images.declare(set);
  set.add("held_out", &held_out)
      .in(1, 1e6)
      .help(
          "Images that only validation sees: generated ones of the split `tune`, or the last of a "
          "file.");
  set.add("start", &start)
      .help("Checkpoint to go on from; empty: random weights of the dimensions below.");
  set.add("causal", &causal)
      .help(
          "A decoder alone, over the class and the tokens in raster order (teacher forcing); "
          "false: an encoder over what is visible and a decoder over all positions.");
  set.add("width", &width).in(1, 65536).help("Width of encoder and decoder; a multiple of heads.");
  set.add("encoder_layers", &encoder_layers)
      .in(0, 200)
      .help("Layers of the encoder; none where causal.");
  set.add("decoder_layers", &decoder_layers).in(0, 200).help("Layers of the decoder.");
  set.add("heads", &heads).in(1, 1024).help("Attention heads.");
  set.add("buffers", &buffers).in(1, 4096).help("Slots that hold the class embedding; MAR has 64.");
  set.add("head_width", &head_width).in(1, 65536).help("Width of the diffusion head.");
  set.add("head_layers", &head_layers).in(0, 200).help("Residual blocks of the diffusion head.");
  set.add("prediction", &prediction)
      .help(
          "Quantity that the head predicts of a noised token; small models of epsilon err at the "
          "first reverse steps, which magnify the error.");
  set.add("variance", &variance)
      .help("Variance of a reverse step: predicted by the head, or fixed.");
  set.add("sampling_steps", &sampling_steps)
      .help(
          "Reverse steps of decoding, written to the checkpoint: N, or ddimN; training has 1000.");
  set.add("mask_mean", &mask_mean)
      .in(0, 1)
      .help(
          "Mean of the share of masked tokens, which is drawn once a batch: normal, cut to "
          "[mask_least, 1].");
  set.add("mask_spread", &mask_spread).in(0, 10).help("Standard deviation of that share.");
  set.add("mask_least", &mask_least).in(0, 1).help("The least share of masked tokens.");
  set.add("drop_class", &drop_class)
      .in(0, 1)
      .help("Share of images that are learnt without their class, for guidance.");
  set.add("times", &times)
      .in(1, 1024)
      .help("How many timesteps the loss of each token is taken at.");
  TrainingOptions::declare(set);
}

namespace {

TokenImages copy_of(const ImageSet& set, std::int64_t first, std::int64_t count) {
  TokenImages images{set.positions(), set.dimension(), set.classes(), {}, {}};
  for (std::int64_t i = first; i < first + count; ++i) {
    const ImageSet::Item item = set.item(i);
    for (Eigen::Index p = 0; p < item.tokens.rows(); ++p)
      for (Eigen::Index v = 0; v < item.tokens.cols(); ++v)
        images.values.push_back(static_cast<float>(item.tokens(p, v)));
    images.labels.push_back(item.label);
  }
  return images;
}

class MarTrainer final : public Trainer {
 public:
  using Options = TrainMarOptions;
  explicit MarTrainer(const Options& options) : options_(options) {
    require(options_.width % options_.heads == 0,
            "trainer.mar.width = " + std::to_string(options_.width) +
                " must be a multiple of heads = " + std::to_string(options_.heads));
    require(options_.mask_mean >= options_.mask_least,
            "trainer.mar.mask_mean must not be below mask_least");
  }

  void run(const TrainContext& context) override {
    check_run("mar", context);
    const auto train = torch_function<decltype(draftlab_train_mar)>("draftlab_train_mar");
    make_folder(context.out);
    const ImageSet set(options_.images);
    if (options_.images.source != ImageSource::digits) {
      const std::int64_t rest = set.size() - options_.held_out;
      if (rest < 1)
        throw ConfigError("trainer.mar.held_out = {} leaves none of {} images to train on",
                          options_.held_out, set.size());
      return train({options_, copy_of(set, 0, rest), copy_of(set, rest, options_.held_out)},
                   context);
    }
    ImageSetOptions held_out = options_.images;
    held_out.split = ProblemSplit::tune;
    held_out.count = options_.held_out;
    train(
        {options_, copy_of(set, 0, set.size()), copy_of(ImageSet(held_out), 0, options_.held_out)},
        context);
  }

 private:
  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(trainer, mar) {
  registries.trainers.add<draftlab::MarTrainer>(
      "mar",
      "a masked autoregressive model of images with a diffusion head (MAR), or its causal variant");
}
