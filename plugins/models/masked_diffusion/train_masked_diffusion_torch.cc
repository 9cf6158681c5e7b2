// The steps of the trainer `masked-diffusion`; training_torch.cc runs the loop.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "plugins/models/masked_diffusion/train_masked_diffusion.h"
#include "plugins/models/nn/training/train_decoder_torch.h"
#include "plugins/models/nn/training/training_torch.h"

namespace draftlab {

namespace {

// Masks an answer, or a block of it, at one rate t, evenly drawn from (mask_min, 1]. The weights of
// the masked tokens are 1/t over its positions, so that a canvas's loss is an estimate of the bound
// in nats a position (LLaDA, Eq. 3). With uniform noise a token is not masked but replaced at that
// rate, and every position is predicted, because nothing tells the noise from the truth.
NoisyCanvas noisy_canvas(const WorkedExample& example, const TrainMaskedDiffusionOptions& o,
                         const DecoderCorpus& corpus, const Uniforms& uniform) {
  const auto own = static_cast<std::int64_t>(example.tokens.size()),
             prompt = static_cast<std::int64_t>(example.prompt);
  std::int64_t length = std::max(own, prompt + o.answer_tokens);
  if (o.vary_length)
    length = own + static_cast<std::int64_t>(uniform() * static_cast<double>(length - own + 1));
  std::int64_t begin = prompt, end = length;
  if (uniform() < o.semi_share) {
    begin += static_cast<std::int64_t>(uniform() * static_cast<double>(own - prompt));
    end = std::min(length, begin + o.block_size);
  }
  NoisyCanvas canvas = canvas_of(example, corpus.end, static_cast<std::size_t>(length));
  const double rate = 1 - (1 - o.mask_min) * uniform();
  const bool noisy = o.noise == CanvasNoise::uniform;
  if (noisy) canvas.shown = canvas.tokens;
  for (std::int64_t i = begin; i < length; i++) {
    const bool replaced = i >= end || uniform() < rate;
    canvas.masked[i] = noisy || replaced;
    if (noisy && replaced) canvas.shown[i] = static_cast<Token>(uniform() * corpus.vocabulary);
    canvas.weight[i] = i >= end ? 0
                                : static_cast<float>((o.inverse_weight ? 1 / rate : 1) /
                                                     static_cast<double>(end - begin));
  }
  return canvas;
}

class MaskedDiffusionTraining {
 public:
  MaskedDiffusionTraining(const TrainMaskedDiffusionJob& job, const TrainContext& context)
      : job_(job), context_(context), net_(decoder_network(job.options, job, 0, context.seed)) {
    // The type sdar is one of block diffusion; a block as long as any canvas is the same as no
    // blocks.
    if (net_.config.model_type == "sdar")
      net_.config.block_size = net_.config.max_position_embeddings;
    if (job.options.noise == CanvasNoise::uniform) net_.config.mask_token_id = -1;
  }

  void run() const {
    TrainMaskedDiffusionOptions bound = job_.options, sequential = job_.options;
    bound.inverse_weight = sequential.inverse_weight = job_.options.noise == CanvasNoise::mask;
    bound.mask_min = bound.semi_share = 0;
    sequential.mask_min = sequential.semi_share = 1;
    sequential.block_size = 1;

    Training training = training_of(net_, net_.named_parameters(), job_.options);
    training.name = "masked-diffusion";
    training.data = std::to_string(job_.examples.size()) + " examples";
    training.gradient = [&](std::int64_t step) { return gradient(step); };
    training.validate = [&](ValidationRow& row) {
      row.loss = held_out_loss(bound);
      row.loss_sequential = held_out_loss(sequential);
      const bool bounds = bound.inverse_weight;
      std::string line = (bounds ? "held-out bound " : "held-out denoising loss ") +
                         short_number(row.loss) + ", left to right " +
                         short_number(row.loss_sequential);
      if (context_.generate) line += ", right " + short_number(row.accuracy);
      return line;
    };
    run_training(training, job_.options, context_);
  }

 private:
  StepResult gradient(std::int64_t step) const {
    const TrainMaskedDiffusionOptions& o = job_.options;
    const auto canvases_a_step = static_cast<double>(o.batch * o.accumulate);
    StepResult result;
    for (std::int64_t part = 0; part < o.accumulate; part++) {
      std::vector<NoisyCanvas> canvases;
      for (std::int64_t i = 0; i < o.batch; i++) {
        const Uniforms uniform = uniforms(context_.seed, kTrainingStream, step, part * o.batch + i);
        const WorkedExample& example = job_.examples[static_cast<std::size_t>(
            uniform() * static_cast<double>(job_.examples.size()))];
        canvases.push_back(noisy_canvas(example, o, job_, uniform));
      }
      const NoisyBatch batch = batch_of(canvases);
      if (batch.scored.numel() == 0) continue;
      const at::Tensor loss = summed(batch) / canvases_a_step;
      loss.backward();
      double positions = 0;
      for (const NoisyCanvas& canvas : canvases)
        positions += static_cast<double>(canvas.tokens.size());
      result.loss += loss.item<double>();
      result.tokens += positions;
      result.mask_rate +=
          static_cast<double>(batch.scored.numel()) / positions / static_cast<double>(o.accumulate);
    }
    return result;
  }

  // Returns the nats a position of held-out answers, which are masked as `o` says.
  double held_out_loss(const TrainMaskedDiffusionOptions& o) const {
    const at::NoGradGuard guard;
    double sum = 0;
    std::int64_t number = 0;
    std::vector<NoisyCanvas> canvases;
    const auto add = [&] {
      const NoisyBatch batch = batch_of(canvases);
      if (batch.scored.numel() > 0) sum += summed(batch).item<double>();
      canvases.clear();
    };
    for (const HeldOut& held_out : job_.held_out)
      for (const WorkedExample& example : held_out.examples) {
        canvases.push_back(noisy_canvas(example, o, job_,
                                        uniforms(context_.seed, kValidationStream, 0, number++)));
        if (static_cast<std::int64_t>(canvases.size()) == o.batch) add();
      }
    if (!canvases.empty()) add();
    return sum / static_cast<double>(number);
  }

  NoisyBatch batch_of(const std::vector<NoisyCanvas>& canvases) const {
    return whole_batch(canvases, job_.mask, net_.config.right_shifted());
  }
  // The sum of the weighted losses.
  at::Tensor summed(const NoisyBatch& batch) const {
    return (masked_nll(net_, batch, in_bf16(context_)) * batch.weight).sum();
  }

  const TrainMaskedDiffusionJob& job_;
  const TrainContext& context_;
  Transformer net_;
};

}  // namespace
}  // namespace draftlab

void draftlab_train_masked_diffusion(const draftlab::TrainMaskedDiffusionJob& job,
                                     const draftlab::TrainContext& context) {
  draftlab::MaskedDiffusionTraining(job, context).run();
}
