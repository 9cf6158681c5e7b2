// The options of the trainer `block-diffusion`. train_block_diffusion_torch.cc says what a step
// does.
#pragma once

#include <vector>

#include "plugins/models/nn/training/train_decoder.h"

namespace draftlab {

struct TrainBlockDiffusionOptions : TrainDecoderOptions {
  // The objective.
  std::vector<std::int64_t> block_size = {4};
  std::int64_t warm_steps = 0;
  double causal_share = 0.5, mask_min = 0.1;
  bool inverse_weight = true;
  // The answers that validate.
  std::int64_t validate_answers = 50;

  void declare(OptionSet& set);
};

struct TrainBlockDiffusionJob : DecoderCorpus {
  TrainBlockDiffusionOptions options;
};

}  // namespace draftlab

// The torch module exports this function.
extern "C" __attribute__((visibility("default"))) void draftlab_train_block_diffusion(
    const draftlab::TrainBlockDiffusionJob& job, const draftlab::TrainContext& context);
