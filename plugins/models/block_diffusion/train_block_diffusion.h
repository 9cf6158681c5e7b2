// Options of the trainer `block-diffusion`. What a step is made of is in
// train_block_diffusion_torch.cc.
#pragma once

#include "plugins/models/training/train_decoder.h"

namespace draftlab {

struct TrainBlockDiffusionOptions : TrainDecoderOptions {
  // Objective.
  std::int64_t block_size = 4, warm_steps = 0;
  double causal_share = 0.5, mask_min = 0.1;
  bool inverse_weight = true;
  // Validation.
  std::int64_t validate_answers = 50;

  void declare(OptionSet& set);
};

struct TrainBlockDiffusionJob : DecoderCorpus {
  TrainBlockDiffusionOptions options;
};

// Exported by the torch module as `draftlab_train_block_diffusion`.
using TrainBlockDiffusion = void (*)(const TrainBlockDiffusionJob&, const TrainContext&);

}  // namespace draftlab
