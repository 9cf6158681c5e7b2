// Options of the trainer `autoregressive`. What a step is made of is in
// train_autoregressive_torch.cc; this side is torch-free.
#pragma once

#include <string>
#include <vector>

#include "core/config/options.h"
#include "core/config/train.h"
#include "plugins/models/training/examples.h"
#include "plugins/models/training/training.h"

namespace draftlab {

struct TrainAutoregressiveOptions : TrainingOptions {
  std::string tokenizer, start;
  // Model.
  std::int64_t layers = 3, encoder_layers = 0, width = 128, heads = 4, groups = 4, head = 32,
               inner = 256;
  bool tied = true;
  // Prediction heads (blockwise parallel decoding).
  std::int64_t prediction_heads = 0, filter = 64;
  std::string head_loss = "one";
  bool freeze = false;
  // Validation.
  std::int64_t validate_examples = 200;

  void declare(OptionSet& set);
};

// What the torch module is handed: it must not depend on the tokenizer's library.
struct TrainAutoregressiveJob {
  TrainAutoregressiveOptions options;
  std::vector<WorkedExample> examples, held_out;
  int vocabulary = 0;
  Token mask = 0, end = 0;
};

// Exported by the torch module as `draftlab_train_autoregressive`.
using TrainAutoregressive = void (*)(const TrainAutoregressiveJob&, const TrainContext&);

}  // namespace draftlab
