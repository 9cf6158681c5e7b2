// The steps of the trainer `mar`; training_torch.cc runs the loop.
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/base/error.h"
#include "plugins/models/mar/diffusion_loss_torch.h"
#include "plugins/models/mar/mar_network_torch.h"
#include "plugins/models/mar/train_mar.h"
#include "plugins/models/nn/training/training_torch.h"

namespace draftlab {
namespace {

// Draws two independent standard normals (Box and Muller, 1958).
std::array<double, 2> normals(const Uniforms& uniform) {
  const double radius = std::sqrt(-2 * std::log(1 - uniform())),
               angle = 2 * std::numbers::pi * uniform();
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

Mar network(const TrainMarJob& job, std::uint64_t seed) {
  const TrainMarOptions& o = job.options;
  const auto side =
      static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(job.images.positions))));
  if (!o.start.empty()) {
    Mar net = Mar::load(o.start);
    if (net.config.tokens() != job.images.positions ||
        net.config.dimension() != job.images.dimension ||
        net.config.class_num != job.images.classes)
      throw DataError(
          "'{}' is of images of {} tokens of {} numbers in {} classes; the training images have "
          "{}, {} and {}",
          o.start, net.config.tokens(), net.config.dimension(), net.config.class_num,
          job.images.positions, job.images.dimension, job.images.classes);
    return net;
  }
  if (side * side != job.images.positions)
    throw DataError("the training images are no squares: {} tokens", job.images.positions);
  // Pixels are cut into patches here; latents, whose patch is among their channels, count as one
  // pixel a token.
  const auto patch =
      static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(job.images.dimension))));
  MarConfig config;
  config.vae_stride = 1;
  config.patch_size =
      patch * patch == job.images.dimension && o.images.source != ImageSource::npy ? patch : 1;
  config.vae_embed_dim = job.images.dimension / (config.patch_size * config.patch_size);
  config.img_size = side * config.patch_size;
  config.encoder_embed_dim = config.decoder_embed_dim = o.width;
  config.encoder_depth = o.encoder_layers;
  config.decoder_depth = o.decoder_layers;
  config.encoder_num_heads = config.decoder_num_heads = o.heads;
  config.class_num = job.images.classes;
  config.buffer_size = o.buffers;
  config.diffloss_d = o.head_layers;
  config.diffloss_w = o.head_width;
  config.num_sampling_steps = o.sampling_steps;
  config.causal = o.causal;
  config.prediction = o.prediction;
  config.variance = o.variance;
  config.check("trainer.mar");
  return Mar(config, random_weights(seed));
}

// Draws how many tokens of an image are masked: the share is normal, cut to [mask_least, 1].
std::int64_t masked_tokens(const TrainMarOptions& o, std::int64_t length, const Uniforms& uniform) {
  if (o.mask_spread == 0)
    return std::max<std::int64_t>(
        1, std::llround(std::ceil(o.mask_mean * static_cast<double>(length))));
  for (;;) {
    const double share = o.mask_mean + o.mask_spread * normals(uniform)[0];
    if (share >= o.mask_least && share <= 1)
      return std::max<std::int64_t>(
          1, static_cast<std::int64_t>(std::ceil(share * static_cast<double>(length))));
  }
}

// The images of one forward, what is masked of them, and which noise is added to the masked tokens.
struct MarBatch {
  // The shapes are [B, L, D] and [B].
  at::Tensor tokens, labels;
  // Places, of shapes [B, V] and [B, M].
  at::Tensor visible, masked;
  // The shapes are [B M, times] and [B M, times, D].
  at::Tensor timesteps, noise;
};

class MarTraining {
 public:
  MarTraining(const TrainMarJob& job, const TrainContext& context)
      : job_(job),
        context_(context),
        net_(network(job, context.seed)),
        schedule_(std::to_string(kDiffusionSteps)) {}

  void run() const {
    Training training = training_of(net_, net_.named_parameters, job_.options);
    training.name = "mar";
    training.data = std::to_string(job_.images.size()) + " images of " +
                    std::to_string(job_.images.positions) + " tokens, " +
                    std::to_string(job_.held_out.size()) + " held out";
    training.gradient = [&](std::int64_t step) { return gradient(step); };
    training.validate = [&](ValidationRow& row) {
      row.loss = held_out_loss();
      return "held-out loss " + short_number(row.loss);
    };
    run_training(training, job_.options, context_);
  }

 private:
  StepResult gradient(std::int64_t step) const {
    const TrainMarOptions& o = job_.options;
    StepResult result;
    for (std::int64_t part = 0; part < o.accumulate; ++part) {
      const auto numbers = [&](std::int64_t i) {
        return uniforms(context_.seed, kTrainingStream, step, i < 0 ? i : part * o.batch + i);
      };
      // The first number of an image's stream chooses the image.
      std::vector<Uniforms> streams;
      std::vector<std::int64_t> indices;
      for (std::int64_t i = 0; i < o.batch; ++i) {
        streams.push_back(numbers(i));
        indices.push_back(
            static_cast<std::int64_t>(streams.back()() * static_cast<double>(job_.images.size())));
      }
      const MarBatch batch = draw(job_.images, indices,
                                  [&](std::int64_t i) { return i < 0 ? numbers(i) : streams[i]; });
      const at::Tensor loss = mean_loss(batch) / static_cast<double>(o.accumulate);
      loss.backward();
      result.loss += loss.item<double>();
      result.tokens += static_cast<double>(batch.masked.numel());
      result.mask_rate += static_cast<double>(batch.masked.size(1)) /
                          static_cast<double>(job_.images.positions * o.accumulate);
    }
    return result;
  }

  double held_out_loss() const {
    const at::NoGradGuard guard;
    const std::int64_t size = job_.held_out.size(), each = job_.options.batch;
    double sum = 0, tokens = 0;
    for (std::int64_t first = 0; first < size; first += each) {
      std::vector<std::int64_t> indices;
      for (std::int64_t i = first; i < std::min(first + each, size); ++i) indices.push_back(i);
      const MarBatch batch = draw(job_.held_out, indices, [&](std::int64_t i) {
        return uniforms(context_.seed, kValidationStream, first, i);
      });
      const auto masked = static_cast<double>(batch.masked.numel());
      sum += mean_loss(batch).item<double>() * masked;
      tokens += masked;
    }
    return sum / tokens;
  }

  // Draws a batch of `indices` of `images`; image i's random numbers are those of canvas first + i.
  MarBatch draw(const TokenImages& images, const std::vector<std::int64_t>& indices,
                const std::function<Uniforms(std::int64_t)>& numbers) const {
    const TrainMarOptions& o = job_.options;
    const bool causal = net_.config.causal;
    const auto batch = static_cast<std::int64_t>(indices.size()), length = images.positions,
               dimension = images.dimension, each = length * dimension;
    const std::int64_t masked = causal ? length : masked_tokens(o, length, numbers(-1));
    MarBatch drawn{at::empty({batch, length, dimension}),
                   at::empty({batch}, at::kLong),
                   at::empty({batch, length - masked}, at::kLong),
                   at::empty({batch, masked}, at::kLong),
                   at::empty({batch * masked, o.times}, at::kLong),
                   at::empty({batch * masked, o.times, dimension})};
    for (std::int64_t i = 0; i < batch; ++i) {
      const Uniforms uniform = numbers(i);
      std::copy_n(images.values.data() + indices[i] * each, each,
                  drawn.tokens.data_ptr<float>() + i * each);
      drawn.labels.data_ptr<std::int64_t>()[i] =
          uniform() < o.drop_class ? images.classes : images.labels[indices[i]];
      std::vector<std::int64_t> order(length);
      std::iota(order.begin(), order.end(), 0);
      if (!causal)
        for (std::int64_t j = length - 1; j > 0; --j)
          std::swap(order[j],
                    order[static_cast<std::int64_t>(uniform() * static_cast<double>(j + 1))]);
      std::copy(order.begin(), order.begin() + masked,
                drawn.masked.data_ptr<std::int64_t>() + i * masked);
      std::copy(order.begin() + masked, order.end(),
                drawn.visible.data_ptr<std::int64_t>() + i * (length - masked));
      for (std::int64_t j = i * masked * o.times; j < (i + 1) * masked * o.times; ++j) {
        drawn.timesteps.data_ptr<std::int64_t>()[j] =
            static_cast<std::int64_t>(uniform() * kDiffusionSteps);
        float* const noise = drawn.noise.data_ptr<float>() + j * dimension;
        for (std::int64_t k = 0; k < dimension; k += 2) {
          const auto pair = normals(uniform);
          for (std::int64_t l = k; l < std::min(k + 2, dimension); ++l)
            noise[l] = static_cast<float>(pair[l - k]);
        }
      }
    }
    return drawn;
  }

  at::Tensor mean_loss(const MarBatch& batch) const {
    const bool bf16 = in_bf16(context_);
    const auto at_places = [](const at::Tensor& rows, const at::Tensor& places) {
      return rows.gather(1, places.unsqueeze(-1).expand({-1, -1, rows.size(2)}));
    };
    const at::Tensor z = net_.config.causal
                             ? net_.causal(batch.tokens, batch.labels, bf16)
                             : net_.decode(net_.encode(at_places(batch.tokens, batch.visible),
                                                       batch.visible, batch.labels, bf16),
                                           batch.visible, bf16);
    const DiffusionLoss loss{net_.head, schedule_, net_.config.prediction, net_.config.variance,
                             bf16};
    return loss(at_places(batch.tokens, batch.masked).flatten(0, 1),
                at_places(z, batch.masked).flatten(0, 1), batch.timesteps, batch.noise)
        .mean();
  }

  const TrainMarJob& job_;
  const TrainContext& context_;
  const Mar net_;
  const DiffusionSchedule schedule_;
};

}  // namespace
}  // namespace draftlab

void draftlab_train_mar(const draftlab::TrainMarJob& job, const draftlab::TrainContext& context) {
  draftlab::MarTraining(job, context).run();
}
