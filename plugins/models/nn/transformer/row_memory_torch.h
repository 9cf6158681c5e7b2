// The keys and values that attention keeps of a sequence that is decoded row by row.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plugins/models/nn/kernels/rows/panels.h"
#include "plugins/models/nn/kernels/share_work_torch.h"
#include "plugins/models/nn/transformer/transformer_config.h"

namespace draftlab {

// Keys (rotated, where the family rotates) and values of one sequence, a slot a row. Both are kept
// as panels, so that scores are "queries times keys", an output a slot, and results are "weights
// times values", an input a slot.
class RowMemory {
 public:
  RowMemory(std::int64_t layers, std::int64_t groups, std::int64_t head, std::int64_t slots);
  // Makes a memory for the decoder's layers.
  RowMemory(const TransformerConfig& config, std::int64_t slots);
  RowMemory(const TransformerConfig& config, std::int64_t layers, std::int64_t slots);
  std::int64_t slots() const { return slots_; }
  // What is there is kept.
  void reserve(std::int64_t slots) { slots_ = std::max(slots_, slots); }
  // Allocates the room that was reserved, before anything is put there.
  void settle(Layout layout);
  // Where the key and the value of a row stand.
  struct Place {
    std::int64_t layer, group, slot;
  };
  void put(Place place, const float* key, const float* value);
  // Moves slot `from` to the place of slot `to`, in every layer.
  void move(std::int64_t from, std::int64_t to);
  std::vector<float> key(Place place) const;
  std::vector<float> value(Place place) const;
  PackedView keys(std::int64_t layer, std::int64_t group, std::int64_t seen) const;
  PackedView values(std::int64_t layer, std::int64_t group, std::int64_t seen) const;
  // Prefetches the memory that will be written, in every group, and that will be attended to.
  void fetch_slot(std::int64_t layer, std::int64_t slot) const {
    keys_[layer].fetch_output(slot);
    values_[layer].fetch_input(slot);
  }
  void fetch(std::int64_t layer, std::int64_t group, std::int64_t seen) const {
    draftlab::fetch(keys(layer, group, seen));
    draftlab::fetch(values(layer, group, seen));
  }
  // Does the same for a network that computes in tensors (device_rows_torch.h): [slots, groups, dh]
  // a layer, in the type and on the device of `options`.
  void settle(const at::TensorOptions& options);
  const at::Tensor& key_tensor(std::int64_t layer) const { return tensors_[2 * layer]; }
  const at::Tensor& value_tensor(std::int64_t layer) const { return tensors_[2 * layer + 1]; }

 private:
  std::int64_t larger() const;
  // `room_` is the number of slots that there are, as many as reserved or more.
  std::int64_t groups_, head_, slots_ = 0, room_ = 0;
  // The panels of each layer, with a matrix a group.
  std::vector<Panels> keys_, values_;
  // The keys and values of each layer.
  std::vector<at::Tensor> tensors_;
};

// Calls attend(group, tile) for every tile in every group, on any thread that is free. It goes
// group by group, so that a group's keys stay in the cache for all tiles. While one tile is
// attended, what the next one sees of its `memory` is prefetched where it lies elsewhere; tiles of
// one sequence see the same.
template <class Tile, class Attend>
void attend_all(std::int64_t layer, std::int64_t groups, const std::vector<Tile>& tiles,
                const Attend& attend) {
  const auto many = static_cast<std::int64_t>(tiles.size());
  share_work(many * groups, std::max({std::int64_t{1}, many, groups / 2}),
             [&](std::int64_t begin, std::int64_t end) {
               for (std::int64_t i = begin, next = i + 1; i < end; i = next++) {
                 const Tile &tile = tiles[i % many], &following = tiles[next % many];
                 if (next < end && (many == 1 || following.memory != tile.memory))
                   following.memory->fetch(layer, next / many, following.seen);
                 attend(i / many, tile);
               }
             });
}

}  // namespace draftlab
