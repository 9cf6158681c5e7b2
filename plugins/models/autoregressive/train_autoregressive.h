// The options of the trainer `autoregressive`, declared without torch.
// train_autoregressive_torch.cc says what a step does.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/options.h"
#include "core/config/train.h"
#include "plugins/models/autoregressive/autoregressive.h"
#include "plugins/models/nn/training/examples.h"
#include "plugins/models/nn/training/training.h"
#include "plugins/models/nn/transformer/feature_kind.h"

namespace draftlab {

// The loss of a minibatch is that of one head, drawn evenly, or the mean of all.
enum class HeadLoss { one, mean };
constexpr std::array<std::string_view, 2> words(HeadLoss) { return {"one", "mean"}; }

struct TrainAutoregressiveOptions : TrainingOptions {
  std::string tokenizer, start;
  // The shape of the model.
  std::int64_t layers = 3, encoder_layers = 0, width = 128, heads = 4, groups = 4, head = 32,
               inner = 256;
  bool tied = true;
  // The positions that have a learned vector, beside the rotation; 0: none has one.
  std::int64_t positions = 0;
  // The prediction heads (blockwise parallel decoding).
  std::int64_t prediction_heads = 0, filter = 64;
  FirstHead first_head = FirstHead::trained;
  HeadLoss head_loss = HeadLoss::one;
  // How many of the minibatches train head 1; 0: as many as each other head.
  double first_head_share = 0;
  bool freeze = false;
  // The passes in which a feature head is trained; 0: none is.
  std::int64_t feature_passes = 0;
  // Its kind; EAGLE-3's and DFlash's read states after some layers, and know so many tokens (0:
  // all).
  FeatureKind feature_head = FeatureKind::eagle;
  std::string feature_layers;
  std::int64_t draft_tokens = 0;
  // The layers that draft a block at once (DFlash).
  std::int64_t block_layers = 2;
  // The heads that see the drafts before theirs (Hydra); 0: none is trained.
  std::int64_t hydra_heads = 0;
  // Early exits (LayerSkip).
  double early_exit = 0, layer_dropout = 0;
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
  // The layers that options.feature_layers names.
  std::vector<std::int64_t> feature_taps = {};
};

// The torch module exports a function of this type as `draftlab_train_autoregressive`.
using TrainAutoregressive = void (*)(const TrainAutoregressiveJob&, const TrainContext&);

}  // namespace draftlab
