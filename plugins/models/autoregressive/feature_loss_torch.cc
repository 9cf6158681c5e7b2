#include "plugins/models/autoregressive/feature_loss_torch.h"

#include <ATen/ATen.h>

namespace draftlab {
namespace {

constexpr double kFade = 0.8;

}  // namespace

std::vector<FeatureLoss> feature_losses(const FeatureHead& head, const CausalBatch& batch,
                                        const TargetReading& reading, int passes) {
  LayerInput input;
  if (reading.encoded.defined())
    input.encoded = norm(reading.encoded, head.net.encoder_norm, head.net.config.rms_norm_eps);
  const at::Tensor rows = head_targets(batch, 0).rows;
  const auto scored = [&](const at::Tensor& all) {
    return all.flatten(0, 1).index_select(0, rows);
  };
  const at::Tensor right = scored(reading.states),
                   law = at::linear(right, reading.output).softmax(-1);

  std::vector<FeatureLoss> losses;
  at::Tensor read = reading.states;
  for (int i = 0; i < passes; ++i) {
    input.x = head.joined(reading.embedded, of_row_before(read), reading.bf16);
    read = training_layers(head.net, batch, input, reading.bf16);
    const at::Tensor own = scored(read), log_law = at::linear(own, reading.output).log_softmax(-1);
    losses.push_back({at::smooth_l1_loss(own, right), -(law * log_law).sum(-1).mean(),
                      at::minimum(law, log_law.detach().exp()).sum(-1).mean().item<double>()});
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
