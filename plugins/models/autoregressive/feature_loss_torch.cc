#include "plugins/models/autoregressive/feature_loss_torch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/smooth_l1_loss.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <utility>

#include "plugins/models/nn/kernels/decoder_kernels_torch.h"

namespace draftlab {
namespace {

constexpr double kFade = 0.8;

// Returns the mean of some values; zero where there are none.
at::Tensor mean_of(const at::Tensor& values) {
  return values.sum() / static_cast<double>(std::max<std::int64_t>(1, values.numel()));
}

// Returns what a head reads of the target, [n, R, read_width()].
at::Tensor read_of(const FeatureHead& head, const TargetReading& reading) {
  if (head.shape.taps.empty()) return reading.states;
  std::vector<at::Tensor> tapped;
  for (const std::int64_t layer : head.shape.taps) tapped.push_back(reading.layers[layer]);
  return at::cat(tapped, -1);
}

// Returns the rows of a canvas that tell an answer token: the first, and one past the last.
std::pair<std::int64_t, std::int64_t> answer_rows(const CausalBatch& batch, std::int64_t canvas) {
  const WorkedExample& example = *batch.examples[canvas];
  const std::int64_t first = batch.encoded ? 0 : example.prompt - 1,
                     count = static_cast<std::int64_t>(example.tokens.size()) - example.prompt;
  return {first, first + count};
}

// Returns what a pass costs at some rows, given the states there of the head and of the target.
FeatureLoss cost_of(const FeatureHead& head, const TargetReading& reading, const at::Tensor& own,
                    const at::Tensor& right) {
  const at::Tensor logits = at::linear(right, reading.output), whole = logits.softmax(-1),
                   known = head.known(logits), law = known.softmax(-1),
                   log_law = head.logits(own, reading.output).log_softmax(-1);
  // A row whose most probable token the head does not know teaches nothing.
  const at::Tensor told = known.amax(-1).ge(logits.amax(-1)).nonzero().squeeze(1);
  FeatureLoss loss;
  loss.tokens = mean_of(-(law * log_law).sum(-1).index_select(0, told));
  loss.overlap =
      mean_of(at::minimum(head.known(whole), log_law.detach().exp()).sum(-1)).item<double>();
  if (head.shape.kind == FeatureKind::eagle)
    loss.states = mean_of(at::smooth_l1_loss(own, right, at::Reduction::None));
  return loss;
}

}  // namespace

at::Tensor block_anchors(const CausalBatch& batch, std::int64_t count, Uniforms* chance) {
  const auto canvases = static_cast<std::int64_t>(batch.examples.size());
  at::Tensor anchors = at::zeros({canvases, count}, at::kLong);
  for (std::int64_t b = 0; b < canvases; ++b) {
    const auto [first, end] = answer_rows(batch, b);
    for (std::int64_t i = 0; i < count; ++i) {
      const double at =
          chance ? (*chance)() : (static_cast<double>(i) + 0.5) / static_cast<double>(count);
      anchors.data_ptr<std::int64_t>()[b * count + i] =
          first + static_cast<std::int64_t>(at * static_cast<double>(end - first));
    }
  }
  return anchors;
}

std::vector<FeatureLoss> block_losses(const FeatureHead& head, const CausalBatch& batch,
                                      const TargetReading& reading, const at::Tensor& anchors) {
  const std::int64_t canvases = anchors.size(0), blocks = anchors.size(1), size = head.shape.block,
                     rows = batch.rows.ids.size(1), d = reading.states.size(2);
  const at::Tensor offsets = at::arange(size, at::kLong),
                   positions = anchors.unsqueeze(2) + offsets,
                   own = batch.rows.ids.gather(1, anchors).unsqueeze(2),
                   ids = at::where(offsets.eq(0), own, static_cast<std::int64_t>(head.shape.mask))
                             .flatten(1, 2);
  // A row sees what was lent before its anchor, and its block.
  const at::Tensor begins = (at::arange(blocks, at::kLong) * size + rows).view({1, blocks, 1});
  const at::Tensor seen =
      at::stack({anchors.unsqueeze(2).expand_as(positions), begins.expand_as(positions),
                 (begins + size).expand_as(positions)},
                3)
          .flatten(1, 2)
          .to(at::kInt)
          .contiguous();
  TrainingCanvases canvas{.rows = {ids, positions.flatten(1, 2), seen}, .source = batch.source};
  LayerInput input{at::embedding(reading.embedding, ids)};
  if (reading.encoded.defined()) {
    input.encoded = norm(reading.encoded, head.net.encoder_norm, head.net.config.rms_norm_eps);
    canvas.source_seen = batch.source_seen.narrow(1, 0, 1).expand({canvases, blocks * size, 3});
  }
  input.lent = rms_norm(head.fused(read_of(head, reading), reading.bf16), head.state_norm,
                        head.net.config.rms_norm_eps, at::kFloat);
  const at::Tensor states =
      training_layers(head.net, canvas, input, reading.bf16).view({canvases, blocks, size, d});

  std::vector<std::int64_t> ends;
  for (std::int64_t b = 0; b < canvases; ++b) ends.push_back(answer_rows(batch, b).second);
  const at::Tensor end = at::tensor(ends, at::kLong).unsqueeze(1);
  std::vector<FeatureLoss> losses;
  for (std::int64_t i = 1; i < size; ++i) {
    // The rows whose states tell the i-th draft, where there are such.
    const at::Tensor told = anchors + (i - 1), there = told.lt(end).flatten().nonzero().squeeze(1);
    const at::Tensor right =
        reading.states.gather(1, told.clamp_max(rows - 1).unsqueeze(2).expand({-1, -1, d}));
    const auto scored = [&](const at::Tensor& all) {
      return all.flatten(0, 1).index_select(0, there);
    };
    losses.push_back(cost_of(head, reading, scored(states.select(2, i)), scored(right)));
  }
  return losses;
}

std::vector<FeatureLoss> feature_losses(const FeatureHead& head, const CausalBatch& batch,
                                        const TargetReading& reading, int passes) {
  PassKeys keys;
  LayerInput input;
  input.passes = &keys;
  if (reading.encoded.defined())
    input.encoded = norm(reading.encoded, head.net.encoder_norm, head.net.config.rms_norm_eps);

  std::vector<FeatureLoss> losses;
  at::Tensor read = head.fused(read_of(head, reading), reading.bf16);
  for (int i = 0; i < passes; ++i) {
    const FeatureHead::Input joined =
        head.joined(reading.embedded, of_row_before(read), reading.bf16);
    input.x = joined.x;
    input.beside = joined.beside;
    read = training_layers(head.net, batch, input, reading.bf16);
    // The rows with so many drafts behind a prompt, their own token included.
    const at::Tensor rows = head_targets(batch, i).rows + i;
    const auto scored = [&](const at::Tensor& all) {
      return all.flatten(0, 1).index_select(0, rows);
    };
    losses.push_back(cost_of(head, reading, scored(read), scored(reading.states)));
  }
  return losses;
}

at::Tensor weighed(const std::vector<FeatureLoss>& passes) {
  at::Tensor sum = at::zeros({});
  double weight = 1, weights = 0;
  for (const FeatureLoss& pass : passes) {
    sum = sum + weight * pass.sum();
    weights += weight;
    weight *= kFade;
  }
  return sum / weights;
}

}  // namespace draftlab
