// The steps of the trainer `autoregressive`; training_torch.cc runs the loop.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "core/base/error.h"
#include "plugins/models/autoregressive/causal_loss_torch.h"
#include "plugins/models/autoregressive/feature_loss_torch.h"
#include "plugins/models/autoregressive/hydra_loss_torch.h"
#include "plugins/models/autoregressive/train_autoregressive.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"
#include "plugins/models/nn/training/train_decoder_torch.h"
#include "plugins/models/nn/training/training_torch.h"

namespace draftlab {

namespace {

// So many blocks of a canvas are trained in a step.
constexpr std::int64_t kBlocks = 6;

struct Network {
  Transformer base;
  PredictionHeads heads;
  std::optional<FeatureHead> feature_head = std::nullopt;
  HydraHeads hydra = {};
};

// Returns the tokens that stand most often in the answers, in rising order; of two alike the first.
std::vector<Token> most_frequent(const TrainAutoregressiveJob& job, std::int64_t count) {
  std::vector<std::int64_t> often(static_cast<std::size_t>(job.vocabulary), 0);
  for (const WorkedExample& example : job.examples)
    for (std::size_t i = static_cast<std::size_t>(example.prompt); i < example.tokens.size(); ++i)
      ++often[example.tokens[i]];
  std::vector<Token> tokens(often.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  std::stable_sort(tokens.begin(), tokens.end(),
                   [&](Token a, Token b) { return often[a] > often[b]; });
  tokens.resize(std::min<std::size_t>(tokens.size(), static_cast<std::size_t>(count)));
  std::sort(tokens.begin(), tokens.end());
  return tokens;
}

// Returns what a feature head is made like.
FeatureShape feature_shape(const TrainAutoregressiveJob& job, const TransformerConfig& target) {
  const TrainAutoregressiveOptions& o = job.options;
  FeatureShape shape{.kind = o.feature_head, .taps = job.feature_taps};
  if (o.feature_head == FeatureKind::dflash) {
    shape.layers = o.block_layers;
    shape.block = o.feature_passes + 1;
    shape.mask = static_cast<Token>(target.mask_token_id);
  }
  if (o.draft_tokens > 0) shape.tokens = most_frequent(job, o.draft_tokens);
  check_shape(shape, target, "trainer.autoregressive.feature_layers");
  return shape;
}

// Throws where a canvas has more positions than there are learned vectors, or heads are asked for
// that know none.
void check_positions(const TrainAutoregressiveJob& job, const TransformerConfig& base) {
  if (!base.learned_positions()) return;
  if (job.options.feature_passes > 0 || job.options.hydra_heads > 0)
    throw DataError(
        "'{}' has learned positions; trainer.autoregressive.feature_passes and hydra_heads go on "
        "from models that have none",
        job.options.start);
  for (const auto* examples : {&job.examples, &job.held_out})
    for (const WorkedExample& example : *examples)
      if (static_cast<std::int64_t>(example.tokens.size()) > base.max_position_embeddings)
        throw DataError("a prompt and its answer have {} tokens, the model has {} positions",
                        example.tokens.size(), base.max_position_embeddings);
}

Network network(const TrainAutoregressiveJob& job, std::uint64_t seed) {
  const TrainAutoregressiveOptions& o = job.options;
  TransformerConfig config = config_from_scratch(o);
  config.model_type = "qwen3";
  config.vocab_size = job.vocabulary;
  config.num_encoder_layers = o.encoder_layers;
  config.position_vectors = o.positions > 0;
  if (o.positions > 0) config.max_position_embeddings = o.positions;
  config.mask_token_id = job.mask;
  config.eos_token_id = {job.end};
  Network net{first_network(o.start, config, seed), {}};
  if (!net.base.config.right_shifted())
    throw DataError(
        "'{}' does not tell the next token; trainer.autoregressive goes on from models of type "
        "qwen2 or qwen3",
        o.start);
  check_positions(job, net.base.config);
  if (o.feature_passes > 0)
    net.feature_head =
        FeatureHead::random(net.base, feature_shape(job, net.base.config), seed + 1, kSpread);
  const std::int64_t width = net.base.config.hidden_size;
  if (o.hydra_heads > 0)
    net.hydra = HydraHeads::random({o.hydra_heads, o.filter, width}, seed + 1, kSpread);
  if (o.prediction_heads == 0) return net;
  if (!o.start.empty() && PredictionHeads::stored(o.start)) {
    net.heads = PredictionHeads::load(o.start, width, weights_digest(o.start));
    if (net.heads.count != o.prediction_heads)
      throw DataError(
          "'{}' has {} prediction heads, but trainer.autoregressive.prediction_heads = {}", o.start,
          net.heads.count, o.prediction_heads);
  } else {
    net.heads = PredictionHeads::random({o.prediction_heads, o.filter, width}, seed + 1, kSpread);
  }
  if (o.first_head == FirstHead::base) net.heads.leave_first_to_base();
  return net;
}

class AutoregressiveTraining {
 public:
  AutoregressiveTraining(const TrainAutoregressiveJob& job, const TrainContext& context)
      : job_(job),
        seed_(context.seed),
        bf16_(context.machine.dtype == Precision::bf16),
        net_(network(job, context.seed)) {}

  void run(const TrainContext& context) {
    const TrainAutoregressiveOptions& o = job_.options;
    Training training;
    training.name = "autoregressive";
    training.data = std::to_string(job_.examples.size()) + " examples";
    training.parameters = net_.feature_head   ? net_.feature_head->parameters
                          : o.hydra_heads > 0 ? net_.hydra.named_parameters()
                                              : net_.heads.named_parameters();
    if (!o.freeze) {
      const auto base = net_.base.named_parameters();
      training.parameters.insert(training.parameters.begin(), base.begin(), base.end());
    }
    training.gradient = [&](std::int64_t step) { return gradient(step); };
    training.save = [&](const std::string& folder) {
      if (!o.freeze) net_.base.save(folder, o.dtype == SavedAs::bf16);
      if (net_.feature_head)
        net_.feature_head->save(folder, o.dtype == SavedAs::bf16, weights_digest(o.start));
      if (o.hydra_heads > 0)
        net_.hydra.save(folder, o.dtype == SavedAs::bf16, weights_digest(o.start));
      if (o.prediction_heads > 0)
        net_.heads.save(folder, o.dtype == SavedAs::bf16,
                        weights_digest(o.freeze ? o.start : folder));
    };
    training.validate = [&](ValidationRow& row) {
      return net_.feature_head || o.hydra_heads > 0 ? validate_beside(row) : validate(row);
    };
    run_training(training, o, context);
  }

 private:
  int heads() const {
    return static_cast<int>(
        std::max({std::int64_t{1}, net_.heads.count, job_.options.hydra_heads}));
  }
  // Head 1 of a frozen base has nothing to learn where it is the base's own.
  int first_trained() const { return job_.options.freeze && net_.heads.first_is_base; }
  // Returns the head that a minibatch trains. Drawn evenly, heads have on average the gradient of
  // the mean.
  int drawn_head(double uniform) const {
    const double share = job_.options.first_head_share;
    if (share == 0)
      return first_trained() + static_cast<int>(uniform * (heads() - first_trained()));
    if (uniform < share) return 0;
    const double others = heads() - 1;
    return 1 + static_cast<int>(std::min((uniform - share) / (1 - share) * others, others - 1));
  }
  CausalBatch batch_of(std::vector<const WorkedExample*> examples) const {
    return causal_batch(std::move(examples), !net_.base.encoder.empty());
  }
  // Computes hidden states; a frozen base is computed without a graph.
  at::Tensor hidden(const CausalBatch& batch, LayerPass* pass = nullptr) const {
    if (!job_.options.freeze) return causal_hidden(net_.base, batch, bf16_, pass);
    const at::NoGradGuard no_grad;
    return causal_hidden(net_.base, batch, bf16_);
  }

  // Returns the logits of a head at the rows of its targets.
  at::Tensor head_logits(const at::Tensor& states, const HeadTargets& targets, int head) const {
    return net_.heads.logits(net_.base, states.index_select(0, targets.rows), head, bf16_);
  }

  bool skips_layers() const {
    return job_.options.early_exit > 0 || job_.options.layer_dropout > 0;
  }
  // Draws which canvases leave out which layers.
  LayerPass drawn_pass(const CausalBatch& batch, Uniforms& chance) const {
    LayerPass pass;
    if (job_.options.layer_dropout == 0) return pass;
    for (const double rate :
         layer_dropout_rates(net_.base.layers.size(), job_.options.layer_dropout)) {
      const at::Tensor kept = at::ones({batch.rows.ids.size(0), 1, 1}, at::kFloat);
      for (std::int64_t b = 0; b < kept.size(0); ++b)
        if (chance() < rate) kept.data_ptr<float>()[b] = 0;
      pass.kept.push_back(kept);
    }
    return pass;
  }
  // The loss of the next token at all exits.
  at::Tensor exit_loss(const CausalBatch& batch, Uniforms& chance) const {
    LayerPass pass = drawn_pass(batch, chance);
    const at::Tensor last = hidden(batch, &pass);
    pass.exits.push_back(last);
    const HeadTargets targets = head_targets(batch, 0);
    const std::vector<double> weights = exit_weights(pass.exits.size(), job_.options.early_exit);
    at::Tensor loss = at::zeros({});
    for (std::size_t exit = 0; exit < weights.size(); ++exit) {
      if (weights[exit] == 0) continue;
      loss = loss + weights[exit] * mean_nll(head_logits(pass.exits[exit], targets, 0), targets);
    }
    return loss;
  }

  // The losses of a feature head: those of its passes, or of the drafts of blocks, which are drawn
  // where there is a `chance`.
  std::vector<FeatureLoss> feature_passes(CausalBatch batch, Uniforms* chance) const {
    const TargetReading reading = read_target(net_.base, batch, bf16_);
    if (net_.feature_head->shape.block > 0)
      return block_losses(*net_.feature_head, batch, reading,
                          block_anchors(batch, kBlocks, chance));
    return feature_losses(*net_.feature_head, batch, reading,
                          static_cast<int>(job_.options.feature_passes));
  }

  StepResult gradient(std::int64_t step) const {
    const TrainAutoregressiveOptions& o = job_.options;
    StepResult result;
    for (std::int64_t part = 0; part < o.accumulate; ++part) {
      Uniforms chance = uniforms(seed_, kTrainingStream, step, part);
      std::vector<const WorkedExample*> examples;
      for (std::int64_t i = 0; i < o.batch; ++i)
        examples.push_back(&job_.examples[static_cast<std::size_t>(
            chance() * static_cast<double>(job_.examples.size()))]);
      CausalBatch batch = batch_of(std::move(examples));
      TargetReading reading;
      if (o.hydra_heads > 0) reading = read_target(net_.base, batch, bf16_);
      const bool has_own_forward = skips_layers() || net_.feature_head || o.hydra_heads > 0;
      const at::Tensor states = has_own_forward ? at::Tensor() : hidden(batch);
      const auto loss_of = [&](int head) {
        if (o.hydra_heads > 0) return hydra_loss(net_.hydra, batch, reading, head).tokens;
        const HeadTargets targets = head_targets(batch, head);
        return mean_nll(head_logits(states, targets, head), targets);
      };
      at::Tensor loss;
      if (skips_layers())
        loss = exit_loss(batch, chance);
      else if (net_.feature_head)
        loss = weighed(feature_passes(batch, &chance));
      else if (o.head_loss == HeadLoss::one)
        loss = loss_of(drawn_head(chance()));
      else
        for (int head = 0; head < heads(); ++head)
          loss = (head == 0 ? loss_of(0) : loss + loss_of(head));
      loss =
          loss / static_cast<double>(o.accumulate * (o.head_loss == HeadLoss::one ? 1 : heads()));
      if (loss.requires_grad()) loss.backward();
      const auto positions = static_cast<double>(batch.rows.ids.numel());
      result.loss += loss.item<double>();
      result.tokens +=
          positions + (batch.encoded ? static_cast<double>(batch.source.ids.numel()) : 0);
      result.mask_rate += static_cast<double>(head_targets(batch, 0).rows.numel()) / positions /
                          static_cast<double>(o.accumulate);
    }
    return result;
  }

  // Calls visit(batch) for the held-out examples, as many at a time as a step has.
  template <class Visit>
  void each_held_out(const Visit& visit) const {
    const auto size = static_cast<std::size_t>(job_.options.batch);
    for (std::size_t first = 0; first < job_.held_out.size(); first += size) {
      std::vector<const WorkedExample*> some;
      for (std::size_t i = first; i < std::min(first + size, job_.held_out.size()); ++i)
        some.push_back(&job_.held_out[i]);
      visit(batch_of(std::move(some)));
    }
  }

  // What a feature head costs in each pass, or each of Hydra's heads.
  struct Costs {
    double all = 0, first = 0;
    // How much of the target's laws they overlap.
    std::vector<double> overlap;
  };
  Costs feature_costs(const CausalBatch& batch) const {
    const std::vector<FeatureLoss> passes = feature_passes(batch, nullptr);
    Costs costs{weighed(passes).item<double>(), passes[0].tokens.item<double>(), {}};
    for (const FeatureLoss& pass : passes) costs.overlap.push_back(pass.overlap);
    return costs;
  }
  Costs hydra_costs(CausalBatch batch) const {
    const TargetReading reading = read_target(net_.base, batch, bf16_);
    Costs costs;
    const auto count = static_cast<double>(net_.hydra.count());
    for (std::size_t i = 0; i < net_.hydra.count(); ++i) {
      const HydraLoss its = hydra_loss(net_.hydra, batch, reading, static_cast<int>(i));
      const double loss = its.tokens.item<double>();
      costs.all += loss / count;
      if (i == 0) costs.first = loss;
      costs.overlap.push_back(its.overlap);
    }
    return costs;
  }

  // Computes the costs of held-out examples of what is trained beside a frozen target.
  std::string validate_beside(ValidationRow& row) const {
    const at::NoGradGuard no_grad;
    const auto examples = static_cast<double>(job_.held_out.size());
    std::vector<double> overlap;
    row.loss = row.loss_sequential = 0;
    each_held_out([&](const CausalBatch& batch) {
      const double share = static_cast<double>(batch.examples.size()) / examples;
      const Costs costs = net_.feature_head ? feature_costs(batch) : hydra_costs(batch);
      row.loss += share * costs.all;
      row.loss_sequential += share * costs.first;
      overlap.resize(costs.overlap.size(), 0);
      for (std::size_t i = 0; i < overlap.size(); ++i) overlap[i] += share * costs.overlap[i];
    });
    row.accuracy = overlap[0];
    std::string line = "held-out loss " + short_number(row.loss) + ", overlap with the target";
    for (const double one : overlap) line += " " + short_number(one);
    return line;
  }

  // Computes the loss of each head on held-out examples, and how many of them are answered greedily
  // as they stand: those where the most probable token is the right one after every right
  // beginning.
  std::string validate(ValidationRow& row) const {
    const at::NoGradGuard no_grad;
    std::vector<double> loss(static_cast<std::size_t>(heads()), 0);
    const auto examples = static_cast<double>(job_.held_out.size());
    double alike = 0;
    each_held_out([&](const CausalBatch& batch) {
      const auto weight = static_cast<double>(batch.examples.size());
      const at::Tensor states = hidden(batch);
      for (int head = 0; head < heads(); ++head) {
        const at::Tensor logits = head_logits(states, head_targets(batch, head), head);
        loss[head] += weight * mean_nll(logits, head_targets(batch, head)).item<double>();
        if (head == 0) alike += answered_alike(batch, logits);
      }
    });
    row.loss = std::accumulate(loss.begin(), loss.end(), 0.0) / examples / heads();
    row.loss_sequential = loss[0] / examples;
    row.accuracy = alike / examples;
    std::string line = "held-out loss " + short_number(row.loss_sequential);
    if (heads() > 1)
      line += ", of the last head " + short_number(loss.back() / examples) + ", of all " +
              short_number(row.loss);
    return line + ", " + short_number(row.accuracy) + " answered alike";
  }

  // Counts such answers among the canvases of a batch, whose logits for the next token stand one
  // below the other.
  double answered_alike(const CausalBatch& batch, at::Tensor logits) const {
    logits.narrow(1, job_.mask, 1).fill_(-1e30);
    const at::Tensor right = logits.argmax(-1).eq(head_targets(batch, 0).tokens);
    double alike = 0;
    std::int64_t row = 0;
    for (const WorkedExample* example : batch.examples) {
      const auto answer = static_cast<std::int64_t>(example->tokens.size()) - example->prompt;
      alike += right.narrow(0, row, answer).all().item<bool>();
      row += answer;
    }
    return alike;
  }

  const TrainAutoregressiveJob& job_;
  std::uint64_t seed_;
  bool bf16_;
  Network net_;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) void draftlab_train_autoregressive(
    const TrainAutoregressiveJob& job, const TrainContext& context);
extern "C" void draftlab_train_autoregressive(const TrainAutoregressiveJob& job,
                                              const TrainContext& context) {
  AutoregressiveTraining(job, context).run(context);
}

}  // namespace draftlab
