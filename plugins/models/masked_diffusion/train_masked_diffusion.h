// Options of the trainer `masked-diffusion`. What a step is made of is in
// train_masked_diffusion_torch.cc.
#pragma once

#include "plugins/models/training/train_decoder.h"

namespace draftlab {

struct TrainMaskedDiffusionOptions : TrainDecoderOptions {
  // Canvases.
  std::int64_t answer_tokens = 96;
  bool vary_length = false;
  // Objective.
  double mask_min = 0, semi_share = 0;
  std::int64_t block_size = 8;
  bool inverse_weight = true;

  void declare(OptionSet& set);
};

struct TrainMaskedDiffusionJob : DecoderCorpus {
  TrainMaskedDiffusionOptions options;
};

// Exported by the torch module as `draftlab_train_masked_diffusion`.
using TrainMaskedDiffusion = void (*)(const TrainMaskedDiffusionJob&, const TrainContext&);

}  // namespace draftlab
