#include "plugins/models/autoregressive/causal_loss_torch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/nll_loss.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace draftlab {
namespace {

// The rows of a canvas are a multiple of so many.
constexpr std::int64_t kGrain = 8;

at::Tensor tensor(const std::vector<std::int64_t>& values) {
  return at::from_blob(const_cast<std::int64_t*>(values.data()),
                       {static_cast<std::int64_t>(values.size())}, at::kLong)
      .clone();
}

// Makes rows of `tokens[b]` of every canvas, padded with token 0; row i sees rows [0, until(b, i)).
template <class Until>
TrainingRows padded_rows(const std::vector<std::span<const Token>>& tokens, const Until& until) {
  std::int64_t length = 1;
  for (const auto& its : tokens) length = std::max(length, static_cast<std::int64_t>(its.size()));
  length = (length + kGrain - 1) / kGrain * kGrain;
  const auto n = static_cast<std::int64_t>(tokens.size());
  TrainingRows rows{at::zeros({n, length}, at::kLong),
                    at::arange(length, at::kLong).expand({n, length}).contiguous(),
                    at::zeros({n, length, 3}, at::kInt)};
  for (std::int64_t b = 0; b < n; ++b) {
    std::copy(tokens[b].begin(), tokens[b].end(), rows.ids.data_ptr<std::int64_t>() + b * length);
    for (std::int64_t i = 0; i < length; ++i) {
      std::int32_t* const seen = rows.seen.data_ptr<std::int32_t>() + (b * length + i) * 3;
      seen[0] = seen[1] = seen[2] = static_cast<std::int32_t>(until(b, i));
    }
  }
  return rows;
}

}  // namespace

CausalBatch causal_batch(std::vector<const WorkedExample*> examples, bool encoder) {
  CausalBatch batch;
  std::vector<std::span<const Token>> rows, sources;
  std::int64_t shortest = examples.front()->prompt;
  for (const WorkedExample* example : examples) {
    const std::span<const Token> all(example->tokens);
    rows.push_back(all.subspan(encoder ? example->prompt - 1 : 0)
                       .first(all.size() - 1 - (encoder ? example->prompt - 1 : 0)));
    sources.push_back(all.first(example->prompt));
    shortest = std::min<std::int64_t>(shortest, example->prompt);
  }
  batch.rows = padded_rows(rows, [](std::int64_t, std::int64_t i) { return i + 1; });
  batch.examples = std::move(examples);
  batch.encoded = encoder;
  if (!encoder) {
    batch.skipped = shortest - 1;
    return batch;
  }
  const auto source_length = [&](std::int64_t b, std::int64_t) {
    return batch.examples[b]->prompt;
  };
  batch.source = padded_rows(sources, source_length);
  batch.source_seen = padded_rows(rows, source_length).seen;
  return batch;
}

HeadTargets head_targets(const CausalBatch& batch, int head) {
  const std::int64_t kept = batch.rows.ids.size(1) - batch.skipped;
  std::vector<std::int64_t> rows, tokens;
  for (std::size_t b = 0; b < batch.examples.size(); ++b) {
    const WorkedExample& example = *batch.examples[b];
    // The token whose row has seen the prompt.
    const std::int64_t first = example.prompt - 1;
    for (std::int64_t i = first; i + 1 + head < static_cast<std::int64_t>(example.tokens.size());
         ++i) {
      rows.push_back(static_cast<std::int64_t>(b) * kept + i -
                     (batch.encoded ? first : batch.skipped));
      tokens.push_back(example.tokens[i + 1 + head]);
    }
  }
  return {tensor(rows), tensor(tokens)};
}

at::Tensor causal_hidden(const Transformer& net, const CausalBatch& batch, bool bf16,
                         LayerPass* pass) {
  const at::Tensor hidden = training_hidden(net, batch, bf16, pass);
  if (pass)
    for (at::Tensor& exit : pass->exits) exit = exit.flatten(0, 1);
  return hidden.flatten(0, 1);
}

std::vector<double> exit_weights(std::size_t layers, double scale) {
  std::vector<double> weights;
  for (std::size_t layer = 1; layer <= layers; ++layer)
    weights.push_back(static_cast<double>(layer * (layer + 1) / 2) * (layer < layers ? scale : 1));
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return weights;
}

std::vector<double> layer_dropout_rates(std::size_t layers, double highest) {
  std::vector<double> rates(layers, highest);
  for (std::size_t layer = 0; layer + 1 < layers; ++layer)
    rates[layer] = highest * (std::exp2(static_cast<double>(layer) / (layers - 1.0)) - 1);
  return rates;
}

TargetReading read_target(const Transformer& target, CausalBatch& batch, bool bf16) {
  const at::NoGradGuard no_grad;
  batch.skipped = 0;
  LayerPass pass;
  const at::Tensor states = training_hidden(target, batch, bf16, &pass);
  return {.states = states,
          .embedded = at::embedding(target.embed_tokens, batch.rows.ids),
          .layers = pass.raw,
          .encoded = pass.encoded,
          .output = target.lm_head.detach(),
          .embedding = target.embed_tokens.detach(),
          .bf16 = bf16};
}

at::Tensor of_row_before(const at::Tensor& states) {
  return at::cat({at::zeros_like(states.narrow(1, 0, 1)), states.narrow(1, 0, states.size(1) - 1)},
                 1);
}

at::Tensor mean_nll(const at::Tensor& logits, const HeadTargets& targets) {
  if (targets.tokens.numel() == 0) return logits.sum();
  return at::nll_loss(at::log_softmax(logits, -1), targets.tokens);
}

}  // namespace draftlab
