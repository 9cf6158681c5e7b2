// Reads and writes GPT-2's checkpoints: Hugging Face's names, Conv1D weights [in, out], and
// queries, keys and values in one tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/models/nn/checkpoint/weights_torch.h"
#include "plugins/models/nn/transformer/transformer_torch.h"

namespace draftlab {

// Fills the network, whose tensors are yet to be made. It throws DataError where Weights does.
void take_gpt2(Transformer& net, Weights& weights, std::optional<at::ScalarType> type);

// Returns the tensors of a checkpoint file, in the names of the hub's `gpt2`.
std::vector<std::pair<std::string, at::Tensor>> gpt2_weights(const Transformer& net);

}  // namespace draftlab
