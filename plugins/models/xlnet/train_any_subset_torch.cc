// The steps of the trainer `any-subset`; training_torch.cc runs the loop.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "plugins/models/nn/training/corpus.h"
#include "plugins/models/nn/training/training_torch.h"
#include "plugins/models/xlnet/any_subset_loss_torch.h"
#include "plugins/models/xlnet/train_any_subset.h"
#include "plugins/models/xlnet/xlnet_torch.h"

namespace draftlab {

namespace {

Xlnet network(const TrainAnySubsetJob& job, std::uint64_t seed) {
  const TrainAnySubsetOptions& o = job.options;
  if (!o.start.empty()) {
    Xlnet net = Xlnet::load(o.start);
    if (net.config.vocab_size != job.vocabulary)
      throw DataError("'{}' has a vocabulary of {}, the tokenizer one of {}", o.start,
                      net.config.vocab_size, job.vocabulary);
    return net;
  }
  XlnetConfig config;
  config.vocab_size = job.vocabulary;
  config.d_model = o.width;
  config.n_layer = o.layers;
  config.n_head = o.heads;
  config.d_head = o.width / o.heads;
  config.d_inner = o.inner;
  return Xlnet::random(config, seed);
}

// Which canvases are drawn: their random numbers are those of `stream` at `step`.
struct Drawn {
  std::uint64_t stream = kTrainingStream;
  std::int64_t step = 0, count = 0;
};

// Mask rates are stratified over the canvases of the step; each canvas has a shape, a prompt and an
// order of its own.
AnySubsetBatch draw(const TrainAnySubsetOptions& o, const TrainingCorpus& corpus,
                    std::uint64_t seed, const Drawn& which) {
  const auto [stream, step, count] = which;
  const int length = static_cast<int>(o.length);
  const MaskSchedule masks{o.mask_start, o.mask_min, o.mask_max, o.mask_warmup};
  const std::vector<double> strata =
      low_discrepancy(uniforms(seed, stream, step, -1)(), static_cast<int>(count));
  AnySubsetBatch batch;
  for (std::int64_t i = 0; i < count; i++) {
    const Uniforms uniform = uniforms(seed, stream, step, i);
    batch.tokens.push_back(corpus.canvas(length, uniform(), o.align));
    const double shape = uniform();
    const double rate = masks.rate(strata[i], stream == kValidationStream ? o.mask_warmup : step);
    const std::vector<char> given =
        draw_prompt(length, prompt_size(rate, length),
                    shape < o.share_prefix                   ? PromptShape::prefix
                    : shape < o.share_prefix + o.share_spans ? PromptShape::spans
                                                             : PromptShape::scattered,
                    uniform);
    batch.arrangements.push_back(
        arrange(given, o.order == GenerationOrder::any_permutation, uniform));
    if (stream == kTrainingStream && o.share_ahead > 0)
      ask_ahead(batch.arrangements.back(), o.share_ahead, static_cast<int>(o.most_ahead), uniform);
  }
  return batch;
}

// Returns a part of a step's batch, which takes one forward.
AnySubsetBatch part(const AnySubsetBatch& batch, std::int64_t first, std::int64_t count) {
  return {{batch.tokens.begin() + first, batch.tokens.begin() + first + count},
          {batch.arrangements.begin() + first, batch.arrangements.begin() + first + count}};
}

class AnySubsetTraining {
 public:
  AnySubsetTraining(const TrainAnySubsetJob& job, const TrainContext& context)
      : job_(job), context_(context), net_(network(job, context.seed)) {}

  void run() const {
    Training training = training_of(net_, net_.named_parameters(), job_.options);
    training.name = "any-subset";
    training.data = std::to_string(job_.corpus.tokens()) + " tokens in " +
                    std::to_string(job_.corpus.documents()) + " documents, " +
                    std::to_string(job_.held_out.tokens()) + " held out";
    training.gradient = [&](std::int64_t step) { return gradient(step); };
    training.validate = [&](ValidationRow& row) {
      row.loss = held_out_loss();
      std::string line = "held-out loss " + short_number(row.loss);
      if (!context_.generate) return line;
      if (std::isfinite(row.perplexity)) line += ", perplexity " + short_number(row.perplexity);
      return line + ", entropy " + short_number(row.entropy_bits) + " bits, NFE per token " +
             short_number(row.nfe_per_token);
    };
    run_training(training, job_.options, context_);
  }

 private:
  StepResult gradient(std::int64_t step) const {
    const TrainAnySubsetOptions& o = job_.options;
    const AnySubsetBatch batch =
        draw(o, job_.corpus, context_.seed, {.step = step, .count = o.batch * o.accumulate});
    const auto scored = static_cast<double>(batch.scored());
    StepResult result;
    for (std::int64_t i = 0; i < o.accumulate; i++) {
      const at::Tensor nll = losses(part(batch, i * o.batch, o.batch)).sum() / scored;
      nll.backward();
      result.loss += nll.item<double>();
    }
    result.tokens = static_cast<double>(o.batch * o.accumulate * o.length);
    result.mask_rate = scored / result.tokens;
    return result;
  }

  double held_out_loss() const {
    const TrainAnySubsetOptions& o = job_.options;
    const at::NoGradGuard guard;
    const AnySubsetBatch all = draw(o, job_.held_out, context_.seed,
                                    {.stream = kValidationStream, .count = o.validate_canvases});
    double sum = 0;
    for (std::int64_t first = 0; first < o.validate_canvases; first += o.batch)
      sum += losses(part(all, first, std::min(o.batch, o.validate_canvases - first)))
                 .sum()
                 .item<double>();
    return sum / static_cast<double>(all.scored());
  }

  at::Tensor losses(const AnySubsetBatch& batch) const {
    return any_subset_nll(net_, batch, in_bf16(context_));
  }

  const TrainAnySubsetJob& job_;
  const TrainContext& context_;
  const Xlnet net_;
};

}  // namespace
}  // namespace draftlab

void draftlab_train_any_subset(const draftlab::TrainAnySubsetJob& job,
                               const draftlab::TrainContext& context) {
  draftlab::AnySubsetTraining(job, context).run();
}
