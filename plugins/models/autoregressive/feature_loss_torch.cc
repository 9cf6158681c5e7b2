#include "plugins/models/autoregressive/feature_loss_torch.h"

#include <ATen/ATen.h>

namespace draftlab {
namespace {

constexpr double kFade = 0.8;

// Moves states [n, R, d] one row on; the first row reads zeros.
at::Tensor of_row_before(const at::Tensor& states) {
  return at::cat({at::zeros_like(states.narrow(1, 0, 1)), states.narrow(1, 0, states.size(1) - 1)},
                 1);
}

}  // namespace

std::vector<FeatureLoss> feature_losses(const Transformer& target, const FeatureHead& head,
                                        CausalBatch batch, int passes, bool bf16) {
  batch.skipped = 0;  // A row reads the state of the row before, whatever it is scored on.
  const std::vector<std::int64_t> shape{batch.rows.ids.size(0), batch.rows.ids.size(1),
                                        target.config.hidden_size};
  LayerPass pass;
  at::Tensor states, embedded;
  {
    const at::NoGradGuard no_grad;
    states = causal_hidden(target, batch, bf16, &pass).view(shape);
    embedded = at::embedding(target.embed_tokens, batch.rows.ids);
  }
  const at::Tensor encoded = pass.encoded.defined() ? norm(pass.encoded, head.net.encoder_norm,
                                                           head.net.config.rms_norm_eps)
                                                    : at::Tensor();
  const at::Tensor rows = head_targets(batch, 0).rows;
  const auto scored = [&](const at::Tensor& all) {
    return all.flatten(0, 1).index_select(0, rows);
  };
  const at::Tensor right = scored(states),
                   law = at::linear(right, target.lm_head.detach()).softmax(-1);

  std::vector<FeatureLoss> losses;
  at::Tensor read = states;
  for (int i = 0; i < passes; ++i) {
    read = training_layers(head.net, batch.rows, head.joined(embedded, of_row_before(read), bf16),
                           bf16, encoded, batch.source_seen);
    const at::Tensor own = scored(read),
                     log_law = at::linear(own, target.lm_head.detach()).log_softmax(-1);
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
