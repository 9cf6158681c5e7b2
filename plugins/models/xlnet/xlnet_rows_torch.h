// The network of xlnet_torch.h, computed for a few rows at a time: content rows leave their keys
// and values in a cache, and query rows read it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plugins/models/nn/kernels/row_linear_torch.h"
#include "plugins/models/nn/kernels/thread_choice_torch.h"
#include "plugins/models/xlnet/xlnet_row_cache_torch.h"
#include "plugins/models/xlnet/xlnet_torch.h"

namespace draftlab {

class DeviceXlnetRows;

class XlnetRows {
 public:
  // Takes the weights apart, layer by layer. With a device for `tensors`, tensor operations do the
  // work there, and a row's bits may depend on the rows beside it.
  XlnetRows(Xlnet net, Precision precision, std::optional<at::Device> tensors = std::nullopt);
  XlnetRows(XlnetRows&&) noexcept;
  ~XlnetRows();
  // Makes room for canvases of `length`. Relative-position terms depend on weights and offsets
  // alone, so they are computed once.
  void prepare(std::int64_t length);
  // Runs one forward, in which content rows may attend one another as their limits say. Returns the
  // logits of the query rows, [queries, V].
  at::Tensor forward(std::span<const Row> content, std::span<const Row> queries) const;

 private:
  struct Layer {
    RowLinear q, kv, o, inner, outer;
    // These are r_w_bias and r_r_bias.
    at::Tensor content_bias, relative_bias;
    at::Tensor attention_norm, attention_norm_bias, ff_norm, ff_norm_bias;
    // The weight W_r, [d, H dh].
    at::Tensor r;
    // For each head: output N-1-r+p is W_r PE(r-p), of a row at r and a key at p.
    Panels relative;
  };
  // Rows of one cache that are attended together, by their places in the forward, and what one head
  // of them needs: `seen` slots of the cache, and relative outputs [lowest, lowest + offsets), both
  // multiples of 16. The first `ordered` slots hold neighbours in order.
  struct Tile {
    const RowMemory* memory = nullptr;
    std::vector<std::int64_t> rows = {};
    std::int64_t seen = 0, lowest = 0, offsets = 0, ordered = 0;
  };
  std::vector<Tile> tiles(std::span<const Row* const> rows) const;
  // The attention of some rows in layer l: their queries, and where the heads' results go, [rows, H
  // dh] both.
  struct Attention {
    std::size_t l;
    std::span<const Row* const> rows;
    const float* q;
    float* joined;
  };
  void attend_tile(const Attention& attention, std::int64_t head, const Tile& tile) const;
  // Writes the first hidden states of the rows, x [content and queries, d].
  void embed(std::span<const Row> content, std::int64_t queries, float* x) const;
  // Writes the keys and values of content rows x into their caches; `kv` is room for them.
  void put_keys(std::size_t l, std::span<const Row> content, const float* x, float* kv) const;

  XlnetConfig config_;
  // The layout of memories.
  Layout layout_;
  std::unique_ptr<DeviceXlnetRows> elsewhere_;
  mutable ThreadChoice threads_;
  std::int64_t length_ = 0;
  RowEmbedding embedding_;
  at::Tensor mask_;
  std::vector<Layer> layers_;
  RowLinear head_;
};

}  // namespace draftlab
