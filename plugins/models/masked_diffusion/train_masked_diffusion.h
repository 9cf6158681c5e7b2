// The options of the trainer `masked-diffusion`. train_masked_diffusion_torch.cc says what a step
// does.
#pragma once

#include <array>
#include <string_view>

#include "plugins/models/nn/training/train_decoder.h"

namespace draftlab {

// What stands where the model has to predict: the mask token, or the truth and uniformly drawn
// tokens among each other, of which the model does not know which is which.
enum class CanvasNoise { mask, uniform };
constexpr std::array<std::string_view, 2> words(CanvasNoise) { return {"mask", "uniform"}; }

struct TrainMaskedDiffusionOptions : TrainDecoderOptions {
  // The canvases that are shown.
  std::int64_t answer_tokens = 96;
  bool vary_length = false;
  // The objective.
  CanvasNoise noise = CanvasNoise::mask;
  double mask_min = 0, semi_share = 0;
  std::int64_t block_size = 8;
  bool inverse_weight = true;

  void declare(OptionSet& set);
  // Throws ConfigError naming the rule that an option breaks.
  void check() const;
};

struct TrainMaskedDiffusionJob : DecoderCorpus {
  TrainMaskedDiffusionOptions options;
};

}  // namespace draftlab

// The torch module exports this function.
extern "C" __attribute__((visibility("default"))) void draftlab_train_masked_diffusion(
    const draftlab::TrainMaskedDiffusionJob& job, const draftlab::TrainContext& context);
