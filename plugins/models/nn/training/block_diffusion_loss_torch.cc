#include "plugins/models/nn/training/block_diffusion_loss_torch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/nll_loss.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "core/base/error.h"
#include "plugins/models/nn/kernels/decoder_kernels_torch.h"
#include "plugins/models/nn/transformer/transformer_training_torch.h"

namespace draftlab {
namespace {

// The rows that predict, what they predict, and what that weighs.
struct Scored {
  std::vector<std::int64_t> rows, targets;
  std::vector<float> weights;

  void add(std::int64_t row, std::int64_t target, float weight) {
    rows.push_back(row);
    targets.push_back(target);
    weights.push_back(weight);
  }
  void write(NoisyBatch& batch) {
    const auto count = static_cast<std::int64_t>(rows.size());
    batch.scored = at::from_blob(rows.data(), {count}, at::kLong).clone();
    batch.target = at::from_blob(targets.data(), {count}, at::kLong).clone();
    batch.weight = at::from_blob(weights.data(), {count}, at::kFloat).clone();
  }
};

// Returns the position of a canvas's first noisy row: where the block begins in which the first
// masked token stands.
std::int64_t first_noisy(const NoisyCanvas& canvas, bool shifted) {
  const auto length = static_cast<std::int64_t>(canvas.tokens.size());
  if (shifted && canvas.block == 1) return length;
  const auto masked =
      std::find(canvas.masked.begin(), canvas.masked.end(), 1) - canvas.masked.begin();
  return std::min<std::int64_t>(masked, length - 1) / canvas.block * canvas.block;
}

// The rows of one canvas: its clean tokens, then noisy ones from position `first` on.
struct CanvasRows {
  const NoisyCanvas& canvas;
  std::int64_t length, first, noisy;
  // Where the canvas's own begin in the batch.
  std::int64_t *clean_ids, *noisy_ids, *position;
  std::int32_t* seen;

  CanvasRows(const NoisyCanvas& canvas, std::int64_t first, NoisyBatch& batch, std::int64_t b)
      : canvas(canvas),
        length(batch.clean.size(1)),
        first(first),
        noisy(batch.noisy.size(1)),
        clean_ids(batch.clean.data_ptr<std::int64_t>() + b * length),
        noisy_ids(batch.noisy.data_ptr<std::int64_t>() + b * noisy),
        position(batch.position.data_ptr<std::int64_t>() + b * (length + noisy)),
        seen(batch.seen.data_ptr<std::int32_t>() + b * (length + noisy) * 3) {}

  // A row sees rows [0, before) and [own, end) of the canvas.
  void see(std::int64_t row, std::int64_t before, std::int64_t own, std::int64_t end) {
    seen[3 * row] = static_cast<std::int32_t>(before);
    seen[3 * row + 1] = static_cast<std::int32_t>(own);
    seen[3 * row + 2] = static_cast<std::int32_t>(end);
  }
  void write_clean() {
    for (std::int64_t i = 0; i < length; i++) {
      clean_ids[i] = canvas.tokens[i];
      position[i] = i;
      const std::int64_t end = std::min(length, (i / canvas.block + 1) * canvas.block);
      see(i, end, end, end);
    }
  }
  void write_noisy() {
    for (std::int64_t r = 0; r < noisy; r++) {
      const std::int64_t i = first + r, row = length + r;
      // A row beyond the canvas sees itself alone.
      if (i >= length) {
        see(row, 0, row, row + 1);
        continue;
      }
      const std::int64_t begin = i / canvas.block * canvas.block,
                         end = std::min(length, begin + canvas.block);
      see(row, begin, length + begin - first, length + end - first);
      position[row] = i;
      if (!canvas.masked[i]) noisy_ids[r] = canvas.tokens[i];
    }
  }
  // Adds the rows that predict, counted from row `begin` on.
  void score(bool shifted, std::int64_t begin, Scored& scored) const {
    for (std::int64_t i = 0; i < length; i++) {
      if (!canvas.masked[i]) continue;
      if (shifted && i == 0) throw Fault("right-shifted, no row tells the token at position 0");
      const bool clean = shifted && i % canvas.block == 0;
      scored.add(begin + (clean ? i - 1 : length + i - first - shifted), canvas.tokens[i],
                 canvas.weight[i]);
    }
  }
};

}  // namespace

NoisyBatch noisy_batch(const std::vector<NoisyCanvas>& canvases, std::int64_t mask_token,
                       bool shifted) {
  const auto n = static_cast<std::int64_t>(canvases.size()),
             length = static_cast<std::int64_t>(canvases[0].tokens.size());
  std::vector<std::int64_t> first;
  std::int64_t noisy = 1;
  for (const NoisyCanvas& canvas : canvases) {
    first.push_back(first_noisy(canvas, shifted));
    noisy = std::max(noisy, length - first.back());
  }
  const std::int64_t rows = length + noisy;
  NoisyBatch batch;
  batch.clean = at::empty({n, length}, at::kLong);
  batch.noisy = at::full({n, noisy}, mask_token, at::kLong);
  batch.position = at::zeros({n, rows}, at::kLong);
  batch.seen = at::empty({n, rows, 3}, at::kInt);
  Scored scored;
  for (std::int64_t b = 0; b < n; b++) {
    CanvasRows canvas(canvases[b], first[b], batch, b);
    canvas.write_clean();
    canvas.write_noisy();
    canvas.score(shifted, b * rows, scored);
  }
  // Until here rows were counted with those that are skipped.
  batch.skipped = length;
  for (const std::int64_t row : scored.rows) batch.skipped = std::min(batch.skipped, row % rows);
  for (std::int64_t& row : scored.rows) row -= (row / rows + 1) * batch.skipped;
  scored.write(batch);
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
  Scored scored;
  for (std::int64_t b = 0; b < n; b++) {
    const NoisyCanvas& canvas = canvases[b];
    const auto length = static_cast<std::int64_t>(canvas.tokens.size());
    // Rows beyond the canvas are seen by none.
    batch.seen.select(0, b).select(1, 2).fill_(length);
    std::int64_t* const ids = batch.noisy.data_ptr<std::int64_t>() + b * rows;
    for (std::int64_t i = 0; i < length; i++) {
      if (!canvas.masked[i]) {
        ids[i] = canvas.tokens[i];
        continue;
      }
      if (!canvas.shown.empty()) ids[i] = canvas.shown[i];
      if (canvas.weight[i] != 0)
        scored.add(b * rows + i - (shifted ? 1 : 0), canvas.tokens[i], canvas.weight[i]);
    }
  }
  scored.write(batch);
  return batch;
}

at::Tensor noisy_hidden(const Transformer& net, const NoisyBatch& batch, bool bf16) {
  const TrainingRows rows{at::cat({batch.clean, batch.noisy}, 1), batch.position, batch.seen};
  return training_hidden(net, {.rows = rows, .skipped = batch.skipped}, bf16);
}

at::Tensor masked_nll(const Transformer& net, const NoisyBatch& batch, bool bf16) {
  const auto compute = [bf16](const at::Tensor& x) { return bf16 ? x.to(at::kBFloat16) : x; };
  const at::Tensor rows =
      noisy_hidden(net, batch, bf16).flatten(0, 1).index_select(0, batch.scored);
  const at::Tensor logits = at::linear(compute(rows), compute(net.lm_head)).to(at::kFloat);
  return at::nll_loss(at::log_softmax(logits, -1), batch.target, {}, at::Reduction::None);
}

}  // namespace draftlab
