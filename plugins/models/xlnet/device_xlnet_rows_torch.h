// Computes the rows of xlnet_rows_torch.h in tensor operations, on any device that libtorch
// supports, such as a GPU.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "plugins/models/xlnet/xlnet_row_cache_torch.h"
#include "plugins/models/xlnet/xlnet_torch.h"

namespace draftlab {

class DeviceXlnetRows {
 public:
  // Weights, keys and values have the type and device of `options`; softmax, norms and sums of
  // layers stay f32.
  DeviceXlnetRows(Xlnet net, const at::TensorOptions& options);
  // Computes the relative-position terms of canvases of `length`.
  void prepare(std::int64_t length);
  // Does what XlnetRows::forward does; the logits are f32, on the CPU.
  at::Tensor forward(std::span<const Row> content, std::span<const Row> queries) const;

 private:
  // The rows of one cache.
  struct Group {
    XlnetRowCache* cache;
    // Where they stand among the rows of the forward, and the slots of content rows, [rows].
    at::Tensor rows = {}, slots = {};
    // They attend `seen` slots. `blocked` [rows, seen] is true where a row does not see a slot, and
    // `offsets` [rows, seen] says which of the relative terms [lowest, lowest + width) a slot has.
    std::int64_t seen = 0, lowest = 0, width = 0;
    at::Tensor blocked = {}, offsets = {};
  };
  std::vector<Group> groups(std::span<const Row* const> rows) const;
  Group group(std::span<const Row* const> rows, const std::vector<std::int64_t>& own) const;
  // Computes the first hidden states, f32 [content and queries, d].
  at::Tensor entering(std::span<const Row> content, std::int64_t queries) const;
  // Leaves the keys and values of content rows x in their caches.
  void put_keys(std::int64_t l, const std::vector<Group>& groups, const at::Tensor& x) const;
  // Returns what the rows x attend, [rows, H dh].
  at::Tensor attended(std::int64_t l, const std::vector<Group>& groups, const at::Tensor& x) const;
  at::Tensor attended(std::int64_t l, const Group& group, const at::Tensor& q) const;
  at::Tensor layer_output(std::int64_t l, const std::vector<Group>& groups,
                          const at::Tensor& x) const;

  Xlnet net_;
  at::TensorOptions options_;
  std::int64_t length_ = 0;
  // Of each layer [H, dh, 2 length - 1]: output length - 1 - r + p is W_r PE(r - p), of a row at r
  // and a key at p.
  std::vector<at::Tensor> relative_;
};

}  // namespace draftlab
