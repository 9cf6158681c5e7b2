// What attention keeps of a sequence that is decoded row by row.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plugins/models/kernels/panels.h"
#include "plugins/models/kernels/share_work_torch.h"
#include "plugins/models/transformer/transformer_config.h"

namespace draftlab {

// Keys (rotated, where the family rotates) and values of one sequence, a slot a row. Both are kept
// as panels, so that scores are "queries times keys", an output a slot, and results "weights times
// values", an input a slot.
class RowMemory {
 public:
  RowMemory(std::int64_t layers, std::int64_t groups, std::int64_t head, std::int64_t slots);
  RowMemory(const TransformerConfig& config, std::int64_t slots);  // of the decoder's layers
  RowMemory(const TransformerConfig& config, std::int64_t layers, std::int64_t slots);
  std::int64_t slots() const { return slots_; }
  void reserve(std::int64_t slots) { slots_ = std::max(slots_, slots); }  // keeps what is there
  void settle(Layout layout);  // makes the room that was reserved, before anything is put there
  void put(std::int64_t layer, std::int64_t group, std::int64_t slot, const float* key,
           const float* value);
  void move(std::int64_t from,
            std::int64_t to);  // slot `from` takes the place of slot `to`, in every layer
  std::vector<float> key(std::int64_t layer, std::int64_t group, std::int64_t slot) const;
  std::vector<float> value(std::int64_t layer, std::int64_t group, std::int64_t slot) const;
  PackedView keys(std::int64_t layer, std::int64_t group, std::int64_t seen) const;
  PackedView values(std::int64_t layer, std::int64_t group, std::int64_t seen) const;
  // Asks the processor for what will be put, in every group, and for what will be attended to.
  void fetch_slot(std::int64_t layer, std::int64_t slot) const {
    keys_[layer].fetch_output(slot);
    values_[layer].fetch_input(slot);
  }
  void fetch(std::int64_t layer, std::int64_t group, std::int64_t seen) const {
    draftlab::fetch(keys(layer, group, seen));
    draftlab::fetch(values(layer, group, seen));
  }
  // The same of a network that computes in tensors (device_rows_torch.h): [slots, groups, dh] a
  // layer, in its type and place.
  void settle(const at::TensorOptions& options);
  const at::Tensor& key_tensor(std::int64_t layer) const { return tensors_[2 * layer]; }
  const at::Tensor& value_tensor(std::int64_t layer) const { return tensors_[2 * layer + 1]; }

 private:
  std::int64_t larger() const;
  std::int64_t groups_, head_,
      slots_ = 0, room_ = 0;           // room_: slots that there are, as many as reserved or more
  std::vector<Panels> keys_, values_;  // of each layer; a matrix a group
  std::vector<at::Tensor> tensors_;    // keys and values of each layer
};

// attend(group, tile) for every tile in every group, by whoever is free: group by group, so that a
// group's keys stay near for all tiles. What the next one sees is asked for while one is attended,
// where it lies elsewhere: tiles of one sequence see the same.
template <class Tile, class MemoryOf, class Attend>
void attend_all(std::int64_t layer, std::int64_t groups, const std::vector<Tile>& tiles,
                const MemoryOf& memory_of, const Attend& attend) {
  const auto many = static_cast<std::int64_t>(tiles.size());
  share_work(many * groups, std::max({std::int64_t{1}, many, groups / 2}),
             [&](std::int64_t begin, std::int64_t end) {
               for (std::int64_t i = begin, next = i + 1; i < end; i = next++) {
                 const Tile &tile = tiles[i % many], &following = tiles[next % many];
                 if (next < end && (many == 1 || &memory_of(following) != &memory_of(tile)))
                   memory_of(following).fetch(layer, next / many, following.seen);
                 attend(i / many, tile);
               }
             });
}

}  // namespace draftlab
