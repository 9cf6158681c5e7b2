// The steps of the trainer `block-diffusion`; training_torch.cc runs the loop.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/softmax.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/base/error.h"
#include "plugins/models/block_diffusion/train_block_diffusion.h"
#include "plugins/models/nn/training/train_decoder_torch.h"
#include "plugins/models/nn/training/training_torch.h"
#include "plugins/models/nn/transformer/transformer_torch.h"

namespace draftlab {

namespace {

constexpr std::size_t kLongestAnswer = 128;

// Draws the block size of a canvas, each of the list alike. A single one costs no draw.
int drawn_block(const TrainBlockDiffusionOptions& o, const Uniforms& uniform) {
  const std::size_t sizes = o.block_size.size();
  if (sizes == 1) return static_cast<int>(o.block_size[0]);
  return static_cast<int>(
      o.block_size[static_cast<std::size_t>(uniform() * static_cast<double>(sizes))]);
}

// Draws one mask rate a block of the canvas, evenly in [mask_min, 1]. Blocks of one token are all
// masked, which is the autoregressive mode.
void add_noise(NoisyCanvas& canvas, int prompt, const TrainBlockDiffusionOptions& o,
               const Uniforms& uniform) {
  const int block = canvas.block, length = static_cast<int>(canvas.tokens.size());
  for (int begin = prompt / block * block; begin < length; begin += block) {
    const double rate = block == 1 ? 1 : o.mask_min + (1 - o.mask_min) * uniform();
    for (int i = std::max(begin, prompt); i < std::min(begin + block, length); i++) {
      canvas.masked[i] = rate == 1 || uniform() < rate;
      canvas.weight[i] = o.inverse_weight ? static_cast<float>(1 / rate) : 1.0f;
    }
  }
}

class BlockDiffusionTraining {
 public:
  BlockDiffusionTraining(const TrainBlockDiffusionJob& job, const TrainContext& context)
      : job_(job),
        context_(context),
        net_(decoder_network(job.options, job, job.options.block_size[0], context.seed)) {
    if (net_.config.model_type != "sdar" && net_.config.model_type != "Fast_dLLM_Qwen")
      throw DataError(
          "trainer.block-diffusion trains models of type sdar and Fast_dLLM_Qwen, not {}{}",
          net_.config.model_type,
          job.options.start.empty() ? "" : " ('" + job.options.start + "')");
  }

  void run() const {
    Training training = training_of(net_, net_.named_parameters(), job_.options);
    training.name = "block-diffusion";
    training.data = std::to_string(job_.examples.size()) + " examples";
    training.gradient = [&](std::int64_t step) { return gradient(step); };
    training.validate = [&](ValidationRow& row) { return validate(row); };
    run_training(training, job_.options, context_);
  }

 private:
  StepResult gradient(std::int64_t step) const {
    const TrainBlockDiffusionOptions& o = job_.options;
    StepResult result;
    for (std::int64_t part = 0; part < o.accumulate; part++) {
      std::vector<const WorkedExample*> examples;
      std::vector<Uniforms> chances;
      for (std::int64_t i = 0; i < o.batch; i++) {
        chances.push_back(uniforms(context_.seed, kTrainingStream, step, part * o.batch + i));
        examples.push_back(&job_.examples[static_cast<std::size_t>(
            chances.back()() * static_cast<double>(job_.examples.size()))]);
      }
      const std::size_t length = common_length(examples);
      std::vector<NoisyCanvas> canvases;
      // Counts answer tokens, with the first end token of each.
      double answers = 0;
      for (std::int64_t i = 0; i < o.batch; i++) {
        const bool causal = step < o.warm_steps || chances[i]() < o.causal_share;
        canvases.push_back(canvas_of(*examples[i], job_.end, length));
        canvases.back().block = causal ? 1 : drawn_block(o, chances[i]);
        add_noise(canvases.back(), examples[i]->prompt, o, chances[i]);
        answers += static_cast<double>(examples[i]->tokens.size()) - examples[i]->prompt;
      }
      const NoisyBatch batch = batch_of(canvases);
      const at::Tensor loss = summed(batch) / (answers * static_cast<double>(o.accumulate));
      loss.backward();
      const auto positions = static_cast<double>(canvases.size() * length);
      result.loss += loss.item<double>();
      result.tokens += positions;
      result.mask_rate +=
          static_cast<double>(batch.scored.numel()) / positions / static_cast<double>(o.accumulate);
    }
    return result;
  }

  std::string validate(ValidationRow& row) const {
    const std::vector<std::int64_t>& drawn = job_.options.block_size;
    const std::set<std::int64_t> sizes(drawn.begin(), drawn.end());
    std::string line = "held-out loss";
    row.loss = 0;
    for (const std::int64_t block : sizes) {
      const double loss = held_out_loss(static_cast<int>(block));
      row.loss += loss / static_cast<double>(sizes.size());
      line += " " + short_number(loss);
      if (sizes.size() > 1) line += " in blocks of " + std::to_string(block);
      line += ",";
    }
    row.loss_sequential = held_out_loss(1);
    line += " one token at a time " + short_number(row.loss_sequential);
    double right = 0;
    int judged = 0;
    for (const HeldOut& held_out : job_.held_out) {
      if (job_.options.validate_answers == 0 || !held_out.right) continue;
      const double greedy = accuracy(held_out, false);
      right += greedy;
      judged++;
      line += ", " + held_out.task + " " + short_number(greedy) + " right (sampled " +
              short_number(accuracy(held_out, true)) + ")";
    }
    if (judged > 0) row.accuracy = right / judged;
    return line;
  }

  // Returns the nats a token of the answers, with blocks of `block`. Tokens are weighted by 1/t, so
  // that the sum bounds the likelihood.
  double held_out_loss(int block) const {
    TrainBlockDiffusionOptions o = job_.options;
    o.inverse_weight = true;
    const auto each = static_cast<std::size_t>(o.batch);
    const at::NoGradGuard guard;
    double sum = 0, answers = 0;
    std::int64_t number = 0;
    for (const HeldOut& held_out : job_.held_out)
      for (std::size_t first = 0; first < held_out.examples.size(); first += each) {
        std::vector<const WorkedExample*> examples;
        for (std::size_t i = first; i < std::min(first + each, held_out.examples.size()); i++)
          examples.push_back(&held_out.examples[i]);
        const std::size_t length = common_length(examples);
        std::vector<NoisyCanvas> canvases;
        for (const WorkedExample* example : examples) {
          canvases.push_back(canvas_of(*example, job_.end, length));
          NoisyCanvas& canvas = canvases.back();
          canvas.block = block;
          add_noise(canvas, example->prompt, o,
                    uniforms(context_.seed, kValidationStream, 0, number++));
          // What follows the end is masked like the rest, so that it reveals nothing, and does not
          // count.
          std::fill(canvas.weight.begin() + static_cast<std::ptrdiff_t>(example->tokens.size()),
                    canvas.weight.end(), 0.0f);
          answers += static_cast<double>(example->tokens.size()) - example->prompt;
        }
        sum += summed(batch_of(canvases)).item<double>();
      }
    return sum / answers;
  }

  // Returns the share of held-out examples that are answered rightly, one token at a time, all
  // together, with each forward whole. Tokens are chosen greedily or drawn from the distribution.
  double accuracy(const HeldOut& held_out, bool sampled) const {
    const at::NoGradGuard guard;
    const auto count =
        std::min(static_cast<std::size_t>(job_.options.validate_answers), held_out.examples.size());
    std::vector<std::vector<Token>> written(count);
    std::vector<std::size_t> open(count);
    std::iota(open.begin(), open.end(), 0);
    double right = 0;
    for (std::size_t step = 0; step < kLongestAnswer && !open.empty(); step++) {
      std::vector<NoisyCanvas> canvases;
      std::size_t length = 0;
      for (std::size_t i : open) length = std::max(length, held_out.examples[i].prompt + step + 1);
      for (std::size_t i : open)
        canvases.push_back(next_token(held_out.examples[i], written[i], length));
      const at::Tensor logits = next_logits(canvases);
      const at::Tensor cumulative = at::softmax(logits, -1).cumsum(-1).contiguous(),
                       best = logits.argmax(-1);
      std::vector<std::size_t> still;
      for (std::size_t row = 0; row < open.size(); row++) {
        const std::size_t i = open[row];
        auto token = static_cast<Token>(best.data_ptr<std::int64_t>()[row]);
        if (sampled) {
          const float* line =
              cumulative.data_ptr<float>() + static_cast<std::int64_t>(row) * cumulative.size(1);
          Uniforms chance =
              uniforms(context_.seed, kValidationStream, static_cast<std::int64_t>(1 + step),
                       static_cast<std::int64_t>(i));
          const auto u = static_cast<float>(chance());
          token = static_cast<Token>(std::min<std::ptrdiff_t>(
              std::upper_bound(line, line + cumulative.size(1), u) - line, cumulative.size(1) - 1));
        }
        if (token == job_.end) {
          right += held_out.right(i, written[i]);
        } else {
          written[i].push_back(token);
          still.push_back(i);
        }
      }
      open = still;
    }
    return right / static_cast<double>(count);
  }

  // Returns the canvas of which the token behind the prompt and what was written is masked. It does
  // not see what fills the canvas up.
  NoisyCanvas next_token(const WorkedExample& example, const std::vector<Token>& written,
                         std::size_t length) const {
    NoisyCanvas canvas{{example.tokens.begin(), example.tokens.begin() + example.prompt},
                       std::vector<char>(length, 0),
                       1,
                       std::vector<float>(length, 1.0f)};
    canvas.tokens.insert(canvas.tokens.end(), written.begin(), written.end());
    canvas.masked[canvas.tokens.size()] = 1;
    canvas.tokens.resize(length, job_.end);
    return canvas;
  }
  at::Tensor next_logits(const std::vector<NoisyCanvas>& canvases) const {
    const NoisyBatch batch = batch_of(canvases);
    const at::Tensor rows =
        noisy_hidden(net_, batch, in_bf16(context_)).flatten(0, 1).index_select(0, batch.scored);
    at::Tensor logits = at::linear(rows, net_.lm_head);
    logits.narrow(1, job_.mask, 1).fill_(-1e30);
    return logits;
  }

  NoisyBatch batch_of(const std::vector<NoisyCanvas>& canvases) const {
    return noisy_batch(canvases, job_.mask, net_.config.right_shifted());
  }
  // The sum of the weighted losses.
  at::Tensor summed(const NoisyBatch& batch) const {
    return (masked_nll(net_, batch, in_bf16(context_)) * batch.weight).sum();
  }

  const TrainBlockDiffusionJob& job_;
  const TrainContext& context_;
  const Transformer net_;
};

}  // namespace
}  // namespace draftlab

void draftlab_train_block_diffusion(const draftlab::TrainBlockDiffusionJob& job,
                                    const draftlab::TrainContext& context) {
  draftlab::BlockDiffusionTraining(job, context).run();
}
