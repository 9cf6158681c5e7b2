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
struct CausalBatch : TrainingCanvases {
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

// What a frozen target says of a batch, for heads that are trained beside it. It is read with the
// same `bf16` that the heads' products have.
struct TargetReading {
  // The states after the last norm and the embeddings of all rows, [n, R, d].
  at::Tensor states, embedded;
  // What enters the first layer and what each layer puts out, before any norm.
  std::vector<at::Tensor> layers;
  // What the encoder puts out, [n, S, d], where there is one.
  at::Tensor encoded;
  // The projection to the vocabulary, and the embedding of all tokens, [V, d].
  at::Tensor output, embedding;
  bool bf16 = false;
};
// Reads a batch, of which no row is skipped from then on: a row reads the state of the row before,
// whatever it is scored on.
TargetReading read_target(const Transformer& target, CausalBatch& batch, bool bf16);

// Moves states [n, R, d] one row on; the first row reads zeros.
at::Tensor of_row_before(const at::Tensor& states);

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
