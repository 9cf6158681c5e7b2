// The training loss of a causal transformer on answers, for the next token and for the tokens that
// prediction heads predict.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "plugins/models/nn/training/examples.h"
#include "plugins/models/nn/transformer/prediction_heads_torch.h"
#include "plugins/models/nn/transformer/transformer_training_torch.h"

namespace draftlab {

// Examples as rows of one length. Without an encoder a canvas has a row a token; with an encoder
// the rows begin with the prompt's last token, and the prompt's tokens are the source's rows. An
// example's last token has no row, because nothing follows it.
struct CausalBatch {
  // The shapes are [n, R] and [n, S].
  TrainingRows rows, source;
  // The shape is [n, R, 3].
  at::Tensor source_seen;
  // How many first rows of every canvas predict nothing of an answer.
  std::int64_t skipped = 0;
  std::vector<const WorkedExample*> examples;
  bool encoded = false;
};
CausalBatch causal_batch(std::vector<const WorkedExample*> examples, bool encoder);

// The rows that head `head` (0: the next token) is scored at, as indices into the kept rows [n * (R
// - skipped)], and their targets: every answer token that is `head` + 1 positions after a row that
// has seen the whole prompt.
struct HeadTargets {
  at::Tensor rows, tokens;
};
HeadTargets head_targets(const CausalBatch& batch, int head);

// Returns the hidden states of the kept rows, [n (R - skipped), d] f32, and with `pass` those of
// the other layers in it.
at::Tensor causal_hidden(const Transformer& net, const CausalBatch& batch, bool bf16,
                         LayerPass* pass = nullptr);

// Returns the logits of head `head` at the rows of its targets, [targets, V] f32. Without
// prediction heads, `head` is 0.
at::Tensor head_logits(const Transformer& net, const PredictionHeads& heads,
                       const at::Tensor& hidden, const HeadTargets& targets, int head, bool bf16);
// What the loss at the exit after each of `layers` layers weighs, in sum 1 (LayerSkip): the first
// exit 1, the next 1 + 2, the next 1 + 2 + 3 and so on, those before the last layer times `scale`.
// The authors' program counts so; the paper's formula gives the first exit no weight.
std::vector<double> exit_weights(std::size_t layers, double scale);
// How often a canvas leaves out each layer (LayerSkip): never the first, `highest` the last, and
// exponentially in between.
std::vector<double> layer_dropout_rates(std::size_t layers, double highest);
// Returns the mean -log p of the targets in nats, and zero where there are none.
at::Tensor mean_nll(const at::Tensor& logits, const HeadTargets& targets);

}  // namespace draftlab
