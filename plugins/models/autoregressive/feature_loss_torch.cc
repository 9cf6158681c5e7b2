#include "plugins/models/autoregressive/feature_loss_torch.h"

#include <ATen/ATen.h>

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
