// The steps of the trainer `block-diffusion`; training_torch.cc runs the loop.
#include <ATen/ATen.h>

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

// Draws one mask rate a block, evenly in [mask_min, 1]. Blocks of one token are all masked, which
// is the autoregressive mode.
void add_noise(NoisyCanvas& canvas, int prompt, int block, const TrainBlockDiffusionOptions& o,
               const Uniforms& uniform) {
  canvas.block = block;
  const int length = static_cast<int>(canvas.tokens.size());
  for (int begin = prompt / block * block; begin < length; begin += block) {
    const double rate = block == 1 ? 1 : o.mask_min + (1 - o.mask_min) * uniform();
    for (int i = std::max(begin, prompt); i < std::min(begin + block, length); i++) {
      canvas.masked[i] = rate == 1 || uniform() < rate;
      canvas.weight[i] = o.inverse_weight ? static_cast<float>(1 / rate) : 1.0f;
    }
  }
}

StepResult gradient(const TrainBlockDiffusionJob& job, const Transformer& net, std::uint64_t seed,
                    bool bf16, std::int64_t step) {
  const TrainBlockDiffusionOptions& o = job.options;
  StepResult result;
  for (std::int64_t part = 0; part < o.accumulate; part++) {
    std::vector<const WorkedExample*> examples;
    std::vector<Uniforms> chances;
    for (std::int64_t i = 0; i < o.batch; i++) {
      chances.push_back(uniforms(seed, kTrainingStream, step, part * o.batch + i));
      examples.push_back(&job.examples[static_cast<std::size_t>(
          chances.back()() * static_cast<double>(job.examples.size()))]);
    }
    const std::size_t length = common_length(examples);
    std::vector<NoisyCanvas> canvases;
    // Counts answer tokens, with the first end token of each.
    double answers = 0;
    for (std::int64_t i = 0; i < o.batch; i++) {
      const bool causal = step < o.warm_steps || chances[i]() < o.causal_share;
      canvases.push_back(canvas_of(*examples[i], job.end, length));
      const int block = causal ? 1 : drawn_block(o, chances[i]);
      add_noise(canvases.back(), examples[i]->prompt, block, o, chances[i]);
      answers += static_cast<double>(examples[i]->tokens.size()) - examples[i]->prompt;
    }
    const NoisyBatch batch = noisy_batch(canvases, job.mask, net.config.right_shifted());
    const at::Tensor loss = (masked_nll(net, batch, bf16) * batch.weight).sum() /
                            (answers * static_cast<double>(o.accumulate));
    loss.backward();
    const auto positions = static_cast<double>(canvases.size() * length);
    result.loss += loss.item<double>();
    result.tokens += positions;
    result.mask_rate +=
        static_cast<double>(batch.scored.numel()) / positions / static_cast<double>(o.accumulate);
  }
  return result;
}

// Returns the nats a token of the answers, with blocks of `block`. Tokens are weighted by 1/t, so
// that the sum bounds the likelihood.
double held_out_loss(const TrainBlockDiffusionJob& job, const Transformer& net, std::uint64_t seed,
                     int block, bool bf16) {
  TrainBlockDiffusionOptions o = job.options;
  o.inverse_weight = true;
  const at::NoGradGuard guard;
  double sum = 0, answers = 0;
  std::int64_t number = 0;
  for (const HeldOut& held_out : job.held_out)
    for (std::size_t first = 0; first < held_out.examples.size();
         first += static_cast<std::size_t>(o.batch)) {
      std::vector<const WorkedExample*> examples;
      for (std::size_t i = first;
           i < std::min(first + static_cast<std::size_t>(o.batch), held_out.examples.size()); i++)
        examples.push_back(&held_out.examples[i]);
      const std::size_t length = common_length(examples);
      std::vector<NoisyCanvas> canvases;
      for (const WorkedExample* example : examples) {
        canvases.push_back(canvas_of(*example, job.end, length));
        add_noise(canvases.back(), example->prompt, block, o,
                  uniforms(seed, kValidationStream, 0, number++));
        // What follows the end is masked like the rest, so that it reveals nothing, and does not
        // count.
        std::fill(
            canvases.back().weight.begin() + static_cast<std::ptrdiff_t>(example->tokens.size()),
            canvases.back().weight.end(), 0.0f);
        answers += static_cast<double>(example->tokens.size()) - example->prompt;
      }
      const NoisyBatch batch = noisy_batch(canvases, job.mask, net.config.right_shifted());
      sum += (masked_nll(net, batch, bf16) * batch.weight).sum().item<double>();
    }
  return sum / answers;
}

// Returns the share of held-out examples that are answered rightly, one token at a time, all
// together, with each forward whole. Tokens are chosen greedily or drawn from the distribution.
double accuracy(const TrainBlockDiffusionJob& job, const HeldOut& held_out, const Transformer& net,
                std::uint64_t seed, bool sampled, bool bf16) {
  const at::NoGradGuard guard;
  const auto count =
      std::min(static_cast<std::size_t>(job.options.validate_answers), held_out.examples.size());
  std::vector<std::vector<Token>> written(count);
  std::vector<std::size_t> open(count);
  std::iota(open.begin(), open.end(), 0);
  double right = 0;
  for (std::size_t step = 0; step < kLongestAnswer && !open.empty(); step++) {
    std::size_t length = 0;
    for (std::size_t i : open) length = std::max(length, held_out.examples[i].prompt + step + 1);
    std::vector<NoisyCanvas> canvases;
    for (std::size_t i : open) {
      // One token is masked: the next one. It does not see what fills the canvas up.
      const WorkedExample& example = held_out.examples[i];
      NoisyCanvas canvas{{example.tokens.begin(), example.tokens.begin() + example.prompt},
                         std::vector<char>(length, 0),
                         1,
                         std::vector<float>(length, 1.0f)};
      canvas.tokens.insert(canvas.tokens.end(), written[i].begin(), written[i].end());
      canvas.masked[canvas.tokens.size()] = 1;
      canvas.tokens.resize(length, job.end);
      canvases.push_back(std::move(canvas));
    }
    const NoisyBatch batch = noisy_batch(canvases, job.mask, net.config.right_shifted());
    const at::Tensor rows =
        noisy_hidden(net, batch, bf16).flatten(0, 1).index_select(0, batch.scored);
    at::Tensor logits = at::linear(rows, net.lm_head);
    logits.narrow(1, job.mask, 1).fill_(-1e30);
    const at::Tensor cumulative = at::softmax(logits, -1).cumsum(-1).contiguous(),
                     best = logits.argmax(-1);
    std::vector<std::size_t> still;
    for (std::size_t row = 0; row < open.size(); row++) {
      const std::size_t i = open[row];
      auto token = static_cast<Token>(best.data_ptr<std::int64_t>()[row]);
      if (sampled) {
        const float* line =
            cumulative.data_ptr<float>() + static_cast<std::int64_t>(row) * cumulative.size(1);
        Uniforms chance = uniforms(seed, kValidationStream, static_cast<std::int64_t>(1 + step),
                                   static_cast<std::int64_t>(i));
        const auto u = static_cast<float>(chance());
        token = static_cast<Token>(std::min<std::ptrdiff_t>(
            std::upper_bound(line, line + cumulative.size(1), u) - line, cumulative.size(1) - 1));
      }
      if (token == job.end) {
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

void train_block_diffusion(const TrainBlockDiffusionJob& job, const TrainContext& context) {
  const TrainBlockDiffusionOptions& o = job.options;
  const bool bf16 = context.machine.dtype == Precision::bf16;
  const Transformer net = decoder_network(o, job, o.block_size[0], context.seed);
  if (net.config.model_type != "sdar" && net.config.model_type != "Fast_dLLM_Qwen")
    throw DataError(
        "trainer.block-diffusion trains models of type sdar and Fast_dLLM_Qwen, not {}{}",
        net.config.model_type, o.start.empty() ? "" : " ('" + o.start + "')");
  Training training;
  training.name = "block-diffusion";
  training.data = std::to_string(job.examples.size()) + " examples";
  training.parameters = net.named_parameters();
  training.gradient = [&](std::int64_t step) {
    return gradient(job, net, context.seed, bf16, step);
  };
  training.save = [&](const std::string& folder) { net.save(folder, o.dtype == SavedAs::bf16); };
  training.validate = [&](ValidationRow& row) {
    if (context.generate) {
      training.save(context.out);
      row = context.generate(context.out);
    }
    const std::set<std::int64_t> sizes(o.block_size.begin(), o.block_size.end());
    std::string line = "held-out loss";
    row.loss = 0;
    for (const std::int64_t block : sizes) {
      const double loss = held_out_loss(job, net, context.seed, static_cast<int>(block), bf16);
      row.loss += loss / static_cast<double>(sizes.size());
      line += " " + short_number(loss);
      if (sizes.size() > 1) line += " in blocks of " + std::to_string(block);
      line += ",";
    }
    row.loss_sequential = held_out_loss(job, net, context.seed, 1, bf16);
    line += " one token at a time " + short_number(row.loss_sequential);
    double right = 0;
    int judged = 0;
    for (const HeldOut& held_out : job.held_out) {
      if (o.validate_answers == 0 || !held_out.right) continue;
      const double greedy = accuracy(job, held_out, net, context.seed, false, bf16);
      right += greedy;
      judged++;
      line += ", " + held_out.task + " " + short_number(greedy) + " right (sampled " +
              short_number(accuracy(job, held_out, net, context.seed, true, bf16)) + ")";
    }
    if (judged > 0) row.accuracy = right / judged;
    return line;
  };
  run_training(training, o, context);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void draftlab_train_block_diffusion(
    const TrainBlockDiffusionJob& job, const TrainContext& context);
extern "C" void draftlab_train_block_diffusion(const TrainBlockDiffusionJob& job,
                                               const TrainContext& context) {
  train_block_diffusion(job, context);
}

}  // namespace draftlab
