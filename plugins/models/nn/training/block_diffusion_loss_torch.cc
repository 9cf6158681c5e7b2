#include "plugins/models/nn/training/block_diffusion_loss_torch.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "core/base/error.h"
#include "plugins/models/nn/kernels/decoder_kernels_torch.h"
#include "plugins/models/nn/transformer/transformer_training_torch.h"

namespace draftlab {
namespace {

void set_scored(NoisyBatch& batch, std::vector<std::int64_t>& scored,
                std::vector<std::int64_t>& target, std::vector<float>& weight) {
  const auto count = static_cast<std::int64_t>(scored.size());
  batch.scored = at::from_blob(scored.data(), {count}, at::kLong).clone();
  batch.target = at::from_blob(target.data(), {count}, at::kLong).clone();
  batch.weight = at::from_blob(weight.data(), {count}, at::kFloat).clone();
}

}  // namespace

NoisyBatch noisy_batch(const std::vector<NoisyCanvas>& canvases, std::int64_t mask_token,
                       bool shifted) {
  const auto n = static_cast<std::int64_t>(canvases.size()),
             length = static_cast<std::int64_t>(canvases[0].tokens.size());
  // The first of the noisy rows.
  std::vector<std::int64_t> first(n);
  std::int64_t rows = 1;
  for (std::int64_t b = 0; b < n; b++) {
    const NoisyCanvas& canvas = canvases[b];
    const auto masked =
        std::find(canvas.masked.begin(), canvas.masked.end(), 1) - canvas.masked.begin();
    first[b] = std::min<std::int64_t>(masked, length - 1) / canvas.block * canvas.block;
    if (shifted && canvas.block == 1) first[b] = length;
    rows = std::max(rows, length - first[b]);
  }
  NoisyBatch batch;
  batch.clean = at::empty({n, length}, at::kLong);
  batch.noisy = at::full({n, rows}, mask_token, at::kLong);
  batch.position = at::zeros({n, length + rows}, at::kLong);
  batch.seen = at::empty({n, length + rows, 3}, at::kInt);
  std::vector<std::int64_t> scored, target;
  std::vector<float> weight;
  for (std::int64_t b = 0; b < n; b++) {
    const NoisyCanvas& canvas = canvases[b];
    const auto see = [&](std::int64_t row, std::int64_t before, std::int64_t own,
                         std::int64_t end) {
      std::int32_t* seen = batch.seen.data_ptr<std::int32_t>() + (b * (length + rows) + row) * 3;
      seen[0] = static_cast<std::int32_t>(before);
      seen[1] = static_cast<std::int32_t>(own);
      seen[2] = static_cast<std::int32_t>(end);
    };
    std::int64_t* position = batch.position.data_ptr<std::int64_t>() + b * (length + rows);
    for (std::int64_t i = 0; i < length; i++) {
      batch.clean.data_ptr<std::int64_t>()[b * length + i] = canvas.tokens[i];
      position[i] = i;
      const std::int64_t end = std::min(length, (i / canvas.block + 1) * canvas.block);
      see(i, end, end, end);
    }
    for (std::int64_t r = 0; r < rows; r++) {
      const std::int64_t i = first[b] + r, row = length + r;
      // A row beyond the canvas sees itself alone.
      if (i >= length) {
        see(row, 0, row, row + 1);
        continue;
      }
      const std::int64_t begin = i / canvas.block * canvas.block,
                         end = std::min(length, begin + canvas.block);
      see(row, begin, length + begin - first[b], length + end - first[b]);
      position[row] = i;
      if (!canvas.masked[i]) batch.noisy.data_ptr<std::int64_t>()[b * rows + r] = canvas.tokens[i];
    }
    for (std::int64_t i = 0; i < length; i++) {
      if (!canvas.masked[i]) continue;
      if (shifted && i == 0) throw Fault("right-shifted, no row tells the token at position 0");
      const bool clean = shifted && i % canvas.block == 0;
      scored.push_back(b * (length + rows) + (clean ? i - 1 : length + i - first[b] - shifted));
      target.push_back(canvas.tokens[i]);
      weight.push_back(canvas.weight[i]);
    }
  }
  // Until here rows were counted from each canvas's beginning.
  batch.skipped = length;
  for (const std::int64_t row : scored)
    batch.skipped = std::min(batch.skipped, row % (length + rows));
  for (std::int64_t& row : scored) row -= (row / (length + rows) + 1) * batch.skipped;
  set_scored(batch, scored, target, weight);
  return batch;
}

NoisyBatch whole_batch(const std::vector<NoisyCanvas>& canvases, std::int64_t mask_token,
                       bool shifted) {
  const auto n = static_cast<std::int64_t>(canvases.size());
  std::int64_t rows = 0;
  for (const NoisyCanvas& canvas : canvases)
    rows = std::max(rows, static_cast<std::int64_t>(canvas.tokens.size()));
  NoisyBatch batch;
  batch.clean = at::empty({n, 0}, at::kLong);
  batch.noisy = at::full({n, rows}, mask_token, at::kLong);
  batch.position = at::arange(rows, at::kLong).repeat({n, 1});
  batch.seen = at::zeros({n, rows, 3}, at::kInt);
  std::vector<std::int64_t> scored, target;
  std::vector<float> weight;
  for (std::int64_t b = 0; b < n; b++) {
    const NoisyCanvas& canvas = canvases[b];
    const auto length = static_cast<std::int64_t>(canvas.tokens.size());
    // Rows beyond the canvas are seen by none.
    batch.seen.select(0, b).select(1, 2).fill_(length);
    for (std::int64_t i = 0; i < length; i++) {
      if (!canvas.masked[i]) {
        batch.noisy.data_ptr<std::int64_t>()[b * rows + i] = canvas.tokens[i];
      } else if (canvas.weight[i] != 0) {
        scored.push_back(b * rows + i - (shifted ? 1 : 0));
        target.push_back(canvas.tokens[i]);
        weight.push_back(canvas.weight[i]);
      }
    }
  }
  set_scored(batch, scored, target, weight);
  return batch;
}

at::Tensor noisy_hidden(const Transformer& net, const NoisyBatch& batch, bool bf16) {
  return training_hidden(net, {at::cat({batch.clean, batch.noisy}, 1), batch.position, batch.seen},
                         batch.skipped, bf16);
}

at::Tensor masked_nll(const Transformer& net, const NoisyBatch& batch, bool bf16) {
  const auto compute = [bf16](const at::Tensor& x) { return bf16 ? x.to(at::kBFloat16) : x; };
  const at::Tensor rows =
      noisy_hidden(net, batch, bf16).flatten(0, 1).index_select(0, batch.scored);
  const at::Tensor logits = at::linear(compute(rows), compute(net.lm_head)).to(at::kFloat);
  return at::nll_loss(at::log_softmax(logits, -1), batch.target, {}, at::Reduction::None);
}

}  // namespace draftlab
