// The options of the trainer `mar`. train_mar_torch.cc says what a step does. This file needs no
// torch, so that `list`, `describe` and `check` know the trainer without loading torch.
#pragma once

#include <string>
#include <vector>

#include "core/config/options.h"
#include "core/config/train.h"
#include "plugins/models/mar/diffusion_schedule.h"
#include "plugins/models/nn/training/training.h"
#include "plugins/tasks/images/image_set.h"

namespace draftlab {

struct TrainMarOptions : TrainingOptions {
  ImageSetOptions images;
  std::int64_t held_out = 256;
  // The model that is trained.
  std::string start;
  bool causal = false;
  std::int64_t width = 96, encoder_layers = 2, decoder_layers = 2, heads = 4, head_width = 128,
               head_layers = 3, buffers = 4;
  Prediction prediction = Prediction::v;
  Variance variance = Variance::beta;
  std::string sampling_steps = "10";
  // The masks that are drawn, and the timesteps at which the loss of a token is taken.
  double mask_mean = 1, mask_spread = 0.25, mask_least = 0.7, drop_class = 0.1;
  std::int64_t times = 4;

  TrainMarOptions() {
    images.split = ProblemSplit::train;
    images.count = 20000;
  }
  void declare(OptionSet& set);
};

// Images as a trainer sees them.
struct TokenImages {
  std::int64_t positions = 0, dimension = 0, classes = 0;
  // The shape is [image, position, dimension].
  std::vector<float> values;
  std::vector<int> labels;
  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
};

struct TrainMarJob {
  TrainMarOptions options;
  TokenImages images, held_out;
};

}  // namespace draftlab

// The torch module exports this function.
extern "C" __attribute__((visibility("default"))) void draftlab_train_mar(
    const draftlab::TrainMarJob& job, const draftlab::TrainContext& context);
