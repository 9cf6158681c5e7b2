// Options of the trainer `block-diffusion`. What a step is made of is in train_block_diffusion_torch.cc; this side is
// torch-free, so that `list`, `describe` and `check` know the trainer without loading torch.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/options.h"
#include "core/train.h"
#include "plugins/models/training.h"

namespace draftlab {

struct TrainBlockDiffusionOptions : TrainingOptions {
  // Corpus.
  std::string tokenizer;
  std::int64_t problems = 100000, programs = 0;
  // Model.
  std::string start, model_type = "sdar";
  std::int64_t layers = 5, width = 160, heads = 5, groups = 5, head = 32, inner = 448;
  bool tied = true;
  // Objective.
  std::int64_t block_size = 4, warm_steps = 0;
  double causal_share = 0.5, mask_min = 0.1;
  bool inverse_weight = true;
  // Validation.
  std::int64_t validate_canvases = 64, validate_answers = 50;

  void declare(OptionSet& set);
};

// A prompt, which is never masked and has no loss, and the answer, which ends in the end token.
struct WorkedExample {
  std::vector<Token> tokens;
  int prompt = 0;
};

// Examples of one task that only validation sees.
struct HeldOut {
  std::string task;
  std::vector<WorkedExample> examples;
  // Whether an answer, up to its end token, to an example's prompt is right.
  std::function<bool(std::size_t example, const std::vector<Token>& answer)> right;
};

// What the torch module is handed: it must not depend on the tokenizer's library, whose copy of protobuf would clash with the
// one that torch loads.
struct TrainBlockDiffusionJob {
  TrainBlockDiffusionOptions options;
  std::vector<WorkedExample> examples;
  std::vector<HeldOut> held_out;
  int vocabulary = 0;
  Token mask = 0, end = 0;
};

// Exported by the torch module as `draftlab_train_block_diffusion`.
using TrainBlockDiffusion = void (*)(const TrainBlockDiffusionJob&, const TrainContext&);

}  // namespace draftlab
