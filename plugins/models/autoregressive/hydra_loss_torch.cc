#include "plugins/models/autoregressive/hydra_loss_torch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/zeros.h>

namespace draftlab {

HydraLoss hydra_loss(const HydraHeads& heads, const CausalBatch& batch,
                     const TargetReading& reading, int head) {
  const at::Tensor rows = head_targets(batch, head).rows;
  if (rows.numel() == 0) return {at::zeros({}), 0};
  const at::Tensor states = reading.states.flatten(0, 1), embedded = reading.embedded.flatten(0, 1);
  const at::Tensor before = of_row_before(reading.states).flatten(0, 1).index_select(0, rows);
  std::vector<at::Tensor> read{before};
  for (int i = 0; i <= head; ++i) read.push_back(embedded.index_select(0, rows + i));
  const at::Tensor law =
      at::linear(states.index_select(0, rows + head), reading.output).softmax(-1);
  const at::Tensor own = heads.states(static_cast<std::size_t>(head), before, at::cat(read, -1),
                                      reading.bf16),
                   log_law = at::linear(own.to(at::kFloat), reading.output).log_softmax(-1);
  return {-(law * log_law).sum(-1).mean(),
          at::minimum(law, log_law.detach().exp()).sum(-1).mean().item<double>()};
}

}  // namespace draftlab
