#include "plugins/models/autoregressive/hydra_loss_torch.h"

#include <ATen/ATen.h>

namespace draftlab {

HydraReading read_target(const Transformer& target, CausalBatch& batch, bool bf16) {
  const at::NoGradGuard no_grad;
  batch.skipped = 0;  // A row reads the state of the row before, whatever it is scored on.
  const std::int64_t d = target.config.hidden_size;
  const at::Tensor states = causal_hidden(target, batch, bf16),
                   rows = states.view({batch.rows.ids.size(0), -1, d});
  // The first row of a canvas reads zeros.
  const at::Tensor before =
      at::cat({at::zeros_like(rows.narrow(1, 0, 1)), rows.narrow(1, 0, rows.size(1) - 1)}, 1);
  return {before.reshape({-1, d}), states,
          at::embedding(target.embed_tokens, batch.rows.ids).view({-1, d})};
}

HydraLoss hydra_loss(const Transformer& target, const HydraHeads& heads, const CausalBatch& batch,
                     const HydraReading& reading, int head, bool bf16) {
  const at::Tensor rows = head_targets(batch, head).rows;
  if (rows.numel() == 0) return {at::zeros({}), 0};
  const at::Tensor before = reading.before.index_select(0, rows);
  std::vector<at::Tensor> read{before};
  for (int i = 0; i <= head; ++i) read.push_back(reading.embedded.index_select(0, rows + i));
  const at::Tensor output = target.lm_head.detach();
  const at::Tensor law =
      at::linear(reading.states.index_select(0, rows + head), output).softmax(-1);
  const at::Tensor own = heads.states(static_cast<std::size_t>(head), before, at::cat(read, -1),
                                      bf16),
                   log_law = at::linear(own.to(at::kFloat), output).log_softmax(-1);
  return {-(law * log_law).sum(-1).mean(),
          at::minimum(law, log_law.detach().exp()).sum(-1).mean().item<double>()};
}

}  // namespace draftlab
