// The options of the trainer `autoregressive`, declared without torch.
// train_autoregressive_torch.cc says what a step does.
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
  // The shape of the model.
  std::int64_t layers = 3, encoder_layers = 0, width = 128, heads = 4, groups = 4, head = 32,
               inner = 256;
  bool tied = true;
  // The prediction heads (blockwise parallel decoding).
  std::int64_t prediction_heads = 0, filter = 64;
  std::string first_head = "trained";
  std::string head_loss = "one";
  bool freeze = false;
  // The examples that validate.
  std::int64_t validate_examples = 200;

  void declare(OptionSet& set);
};

// What the torch module gets. The module must not depend on the tokenizer's library.
struct TrainAutoregressiveJob {
  TrainAutoregressiveOptions options;
  std::vector<WorkedExample> examples, held_out;
  int vocabulary = 0;
  Token mask = 0, end = 0;
};

// The torch module exports a function of this type as `draftlab_train_autoregressive`.
using TrainAutoregressive = void (*)(const TrainAutoregressiveJob&, const TrainContext&);

}  // namespace draftlab
