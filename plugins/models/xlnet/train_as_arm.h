// Options of the trainer `as-arm`. The loop is in train_as_arm_torch.cc; this side is torch-free,
// so that `list`, `describe` and `check` know the trainer without loading torch.
#pragma once

#include <string>

#include "core/config/options.h"
#include "core/config/train.h"
#include "plugins/models/training/corpus.h"
#include "plugins/models/training/training.h"

namespace draftlab {

struct TrainAsArmOptions : TrainingOptions {
  // Corpus.
  std::string text, documents = "lines", field = "text", tokenizer;
  std::int64_t stories = 0;
  double holdout = 0.01;
  bool align = false;
  // Model.
  std::string start;
  std::int64_t layers = 6, width = 160, heads = 5, inner = 640;
  // What is masked.
  std::string order = "lattice";
  double mask_start = 0.15, mask_min = 0.15, mask_max = 0.99, share_prefix = 0, share_spans = 0,
         share_ahead = 0;
  std::int64_t mask_warmup = 5000, most_ahead = 4;
  // Sizes.
  std::int64_t length = 128, validate_canvases = 64;

  void declare(OptionSet& set);
};

// What the torch module is handed: it must not depend on the tokenizer's library, whose copy of
// protobuf would clash with the one that torch loads.
struct TrainAsArmJob {
  TrainAsArmOptions options;
  Corpus corpus, held_out;
  int vocabulary = 0;
};

// Exported by the torch module as `draftlab_train_as_arm`.
using TrainAsArm = void (*)(const TrainAsArmJob&, const TrainContext&);

}  // namespace draftlab
