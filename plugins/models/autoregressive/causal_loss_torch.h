// The training loss of a causal transformer on answers, for the next token and for those that
// prediction heads tell.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "plugins/models/training/examples.h"
#include "plugins/models/transformer/prediction_heads_torch.h"
#include "plugins/models/transformer/transformer_training_torch.h"

namespace draftlab {

// Examples as rows of one length. Without an encoder a canvas has a row a token; with one the rows
// begin with the prompt's last token, and the prompt's tokens are the source's rows. No row is
// there for an example's last token, nothing follows it.
struct CausalBatch {
  TrainingRows rows, source;  // [n, R], [n, S]
  at::Tensor source_seen;     // [n, R, 3]
  std::int64_t skipped = 0;   // first rows of every canvas that tell nothing of an answer
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

// Hidden states of the kept rows, [n (R - skipped), d] f32.
at::Tensor causal_hidden(const Transformer& net, const CausalBatch& batch, bool bf16);

// What head `head` says at the rows of its targets, [targets, V] f32. Without prediction heads,
// `head` is 0.
at::Tensor head_logits(const Transformer& net, const PredictionHeads& heads,
                       const at::Tensor& hidden, const HeadTargets& targets, int head, bool bf16);
// Their mean -log p in nats; zero where there are none.
at::Tensor mean_nll(const at::Tensor& logits, const HeadTargets& targets);

}  // namespace draftlab
