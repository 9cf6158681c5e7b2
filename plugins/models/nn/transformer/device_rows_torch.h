// Computes the rows of transformer_rows_torch.h in tensor operations, on any device that libtorch
// supports, such as a GPU.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "core/model/model.h"
#include "plugins/models/nn/transformer/transformer_rows_torch.h"

namespace draftlab {

class DeviceRows {
 public:
  // Weights, keys and values have the type and device of `options`; softmax, norms and sums of
  // layers stay f32. Throws ConfigError for a network with an encoder.
  DeviceRows(Transformer net, const at::TensorOptions& options);
  // Does what TransformerRows::forward does; the logits are f32, on the CPU. Either every row has a
  // token, or every row brings its state. Throws ConfigError for rows that go through some layers
  // only.
  at::Tensor forward(std::span<const MemoryRow> rows) const;

 private:
  // Consecutive rows of one memory, and what each sees: `blocked` [rows, outside + own slots] is
  // true where a row does not see a slot.
  struct Group {
    std::int64_t first = 0, count = 0, own = 0, outside = 0;
    RowMemory* memory = nullptr;
    const RowMemory* other = nullptr;
    at::Tensor slots = {}, blocked = {};
  };
  std::vector<Group> groups(std::span<const MemoryRow> rows) const;
  // Returns the conditions of rows' noise levels, [rows, c]; undefined in a network without them.
  at::Tensor conditions(std::span<const MemoryRow> rows) const;
  // Returns what enters the first layer, f32 [rows, d].
  at::Tensor entering(std::span<const MemoryRow> rows, const at::Tensor& places) const;
  at::Tensor attended(const Group& group, std::int64_t layer, const at::Tensor& q) const;
  // Returns the logits, or for a network without a vocabulary the states, of the asked rows among
  // those that left the last layer.
  at::Tensor leaving(std::span<const MemoryRow> rows, const at::Tensor& x,
                     const at::Tensor& condition) const;

  Transformer net_;
  at::TensorOptions options_;
};

}  // namespace draftlab
