// The trainer `autoregressive` trains a causal transformer that continues a task's prompts, alone
// or with an encoder, and prediction heads for it (Stern et al., 2018).
#include "plugins/models/autoregressive/train_autoregressive.h"

#include <sstream>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/config/composition.h"
#include "core/config/plugin.h"
#include "plugins/tokenizers/tokenizer.h"

namespace draftlab {

void TrainAutoregressiveOptions::declare(OptionSet& set) {
  set.add("tokenizer", &tokenizer).help("Folder that holds spiece.model; empty: that of `start`.");
  set.add("start", &start)
      .help(
          "Checkpoint to go on from, prediction heads included where it has some; empty: random "
          "weights of the dimensions below.");
  set.add("layers", &layers).in(1, 200).help("Layers of a model made from scratch.");
  set.add("encoder_layers", &encoder_layers)
      .in(0, 200)
      .help(
          "Layers of its encoder, which sees the whole prompt; 0: none, the prompt is read "
          "causally.");
  set.add("width", &width).in(2, 65536).help("Width of its hidden states.");
  set.add("heads", &heads).in(1, 1024).help("Its attention heads.");
  set.add("groups", &groups)
      .in(1, 1024)
      .help("Its heads of keys and values; heads must be a multiple of it.");
  set.add("head", &head).in(2, 65536).help("Width of a head; even.");
  set.add("inner", &inner).in(1, 1000000).help("Width inside its feed-forward blocks.");
  set.add("tied", &tied).help("The embedding is also the head that gives logits.");
  set.add("positions", &positions)
      .in(0, 1 << 20)
      .help(
          "Its canvases have at most so many positions, each with a learned vector beside the "
          "rotation, which shows differences of positions alone; 0: the rotation only.");
  set.add("prediction_heads", &prediction_heads)
      .in(0, 1024)
      .help("Heads that predict the next k tokens at once (blockwise parallel decoding); 0: none.");
  set.add("first_head", &first_head)
      .help(
          "Head 1: one with a layer of its own, or the base's own head, which predicts the next "
          "token.");
  set.add("filter", &filter)
      .in(1, 65536)
      .help("Width of the hidden layer of each prediction head or Hydra head.");
  set.add("head_loss", &head_loss)
      .help("The loss of a minibatch is that of one head, drawn evenly, or the mean of all.");
  set.add("first_head_share", &first_head_share)
      .in(0, 0.99)
      .help(
          "The share of minibatches whose loss is head 1's, which alone decides the texts of exact "
          "match; the other heads share the rest evenly. 0: as many as each other head.");
  set.add("freeze", &freeze)
      .help(
          "Trains the heads alone: the checkpoint is `start`, and heads.safetensors, "
          "feature_head.safetensors or hydra_heads.safetensors beside it.");
  set.add("feature_passes", &feature_passes)
      .in(0, 16)
      .help(
          "Trains a feature head beside `start` (freeze = true): 1: on the target's states; "
          "more: then on its own, pass after pass; DFlash: the drafts of a block; 0: none.");
  set.add("feature_head", &feature_head)
      .help(
          "The kind of feature head: EAGLE's; EAGLE-3's, which reads several layers; a module of "
          "multi-token prediction; or DFlash's layers, which draft a block at once.");
  set.add("feature_layers", &feature_layers)
      .help(
          "EAGLE-3, DFlash: the layers of `start` after which states are read, such as \"1 2 3\" "
          "(0: what enters the first one).");
  set.add("draft_tokens", &draft_tokens)
      .in(0, 1 << 20)
      .help(
          "EAGLE-3, DFlash: the head knows so many tokens, the most frequent ones of the answers, "
          "and drafts no others; 0: all.");
  set.add("block_layers", &block_layers).in(1, 64).help("DFlash: the layers that draft a block.");
  set.add("hydra_heads", &hydra_heads)
      .in(0, 64)
      .help(
          "Trains so many heads of width `filter` that see the drafts before theirs beside `start` "
          "(Hydra; freeze = true); 0: none.");
  set.add("early_exit", &early_exit)
      .in(0, 100)
      .help(
          "Weight of the losses at the exits before the last layer (LayerSkip's e_scale); 0: the "
          "last layer's loss alone.");
  set.add("layer_dropout", &layer_dropout)
      .in(0, 0.99)
      .help(
          "How often a canvas leaves out the last layer (LayerSkip); earlier layers less, the "
          "first never.");
  set.add("validate_examples", &validate_examples)
      .in(1, 1e6)
      .help("How many prompts of the task, its last ones, are only validated on.");
  TrainingOptions::declare(set);
}

namespace {

// Returns the layers that the option names.
std::vector<std::int64_t> named_layers(const std::string& option) {
  std::vector<std::int64_t> layers;
  std::istringstream text(option);
  for (std::int64_t layer = 0; text >> layer;) layers.push_back(layer);
  if (layers.empty() || !text.eof())
    throw ConfigError(
        "trainer.autoregressive.feature_layers = '{}' must name layers by their numbers, such as "
        "1 2 3",
        option);
  return layers;
}

class AutoregressiveTrainer final : public Trainer {
 public:
  using Options = TrainAutoregressiveOptions;
  explicit AutoregressiveTrainer(const Options& options) : options_(options) {
    require(!options_.tokenizer.empty() || !options_.start.empty(),
            "trainer.autoregressive.tokenizer must name a folder that holds spiece.model");
    require(options_.heads % options_.groups == 0,
            "trainer.autoregressive.heads = " + std::to_string(options_.heads) +
                " must be a multiple of groups = " + std::to_string(options_.groups));
    require(options_.head % 2 == 0,
            "trainer.autoregressive.head = " + std::to_string(options_.head) + " must be even");
    require(options_.positions % 8 == 0,
            "trainer.autoregressive.positions = " + std::to_string(options_.positions) +
                " must be a multiple of 8, as the rows of a minibatch are");
    require(!options_.freeze ||
                (options_.prediction_heads + options_.feature_passes + options_.hydra_heads > 0 &&
                 !options_.start.empty()),
            "trainer.autoregressive.freeze = true trains heads for a checkpoint: name both "
            "(prediction_heads, feature_passes or hydra_heads; start)");
    require(options_.feature_passes == 0 || (options_.freeze && options_.prediction_heads == 0),
            "trainer.autoregressive.feature_passes trains a feature head alone, beside a frozen "
            "checkpoint: write freeze = true and leave prediction_heads = 0");
    const bool layered = options_.feature_head == FeatureKind::eagle3 ||
                         options_.feature_head == FeatureKind::dflash;
    require(options_.feature_passes > 0 || options_.feature_head == FeatureKind::eagle,
            "trainer.autoregressive.feature_head is the kind of a head that is trained in "
            "feature_passes passes: write at least 1");
    require(layered || (options_.feature_layers.empty() && options_.draft_tokens == 0),
            "trainer.autoregressive.feature_layers and draft_tokens go with feature_head = eagle-3 "
            "or dflash: leave them out");
    require(options_.feature_head == FeatureKind::dflash || options_.block_layers == 2,
            "trainer.autoregressive.block_layers goes with feature_head = dflash: leave it out");
    if (layered) taps_ = named_layers(options_.feature_layers);
    require(options_.hydra_heads == 0 ||
                (options_.freeze && options_.prediction_heads + options_.feature_passes == 0),
            "trainer.autoregressive.hydra_heads trains Hydra's heads alone, beside a frozen "
            "checkpoint: write freeze = true and leave prediction_heads and feature_passes at 0");
    require(
        (options_.early_exit == 0 && options_.layer_dropout == 0) || options_.prediction_heads == 0,
        "trainer.autoregressive.early_exit and layer_dropout train a base, which must have no "
        "prediction heads yet: leave prediction_heads = 0");
    require(!options_.freeze || options_.first_head == FirstHead::trained ||
                options_.prediction_heads > 1,
            "trainer.autoregressive.first_head = base leaves nothing to train of one prediction "
            "head beside a frozen base");
    require(options_.first_head_share == 0 ||
                (options_.prediction_heads > 1 && options_.head_loss == HeadLoss::one),
            "trainer.autoregressive.first_head_share divides minibatches among prediction heads: "
            "write prediction_heads of 2 or more and head_loss = one");
    require(options_.first_head_share == 0 || !options_.freeze ||
                options_.first_head == FirstHead::trained,
            "trainer.autoregressive.first_head_share has nothing to give: first_head = base leaves "
            "head 1 to a frozen base");
  }

  void run(const TrainContext& context) override {
    check_run("autoregressive", context);
    if (!context.config.find("task"))
      throw ConfigError(
          "trainer.autoregressive learns a task's answers: write task = NAME, with split = train "
          "where it has splits");
    const std::string folder = options_.tokenizer.empty() ? options_.start : options_.tokenizer;
    const auto tokenizer = open_tokenizer(folder);
    const auto train = reinterpret_cast<TrainAutoregressive>(
        module_function("draftlab_torch", "draftlab_train_autoregressive"));

    Diagnostics diagnostics;
    const std::unique_ptr<Task> task =
        compose(context.config, context.registries, diagnostics).task.make();
    task->load(tokenizer.get());
    TrainAutoregressiveJob job{options_,
                               worked_examples(*task, tokenizer->separator()),
                               {},
                               tokenizer->vocabulary(),
                               tokenizer->mask(),
                               tokenizer->separator(),
                               taps_};
    const auto held_out = static_cast<std::size_t>(options_.validate_examples);
    if (held_out >= job.examples.size())
      throw ConfigError(
          "trainer.autoregressive.validate_examples = {} leaves nothing to train on of the task's "
          "{} prompts",
          held_out, job.examples.size());
    job.held_out.assign(job.examples.end() - static_cast<std::ptrdiff_t>(held_out),
                        job.examples.end());
    job.examples.resize(job.examples.size() - held_out);
    make_folder(context.out);
    if (!options_.freeze) copy_tokenizer(folder, context.out);
    train(job, context);
  }

 private:
  Options options_;
  // The layers that a head of EAGLE-3 reads.
  std::vector<std::int64_t> taps_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(trainer, autoregressive) {
  registries.trainers.add<draftlab::AutoregressiveTrainer>(
      "autoregressive",
      "a causal transformer and prediction heads, from a task's prompts and answers");
}
