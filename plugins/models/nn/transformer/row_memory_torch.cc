#include "plugins/models/nn/transformer/row_memory_torch.h"

#include <ATen/ops/zeros.h>

namespace draftlab {

RowMemory::RowMemory(const TransformerConfig& config, std::int64_t slots)
    : RowMemory(config, config.num_hidden_layers, slots) {}

RowMemory::RowMemory(const TransformerConfig& config, std::int64_t layers, std::int64_t slots)
    : RowMemory(layers, config.num_key_value_heads, config.head_dim, slots) {}

RowMemory::RowMemory(std::int64_t layers, std::int64_t groups, std::int64_t head,
                     std::int64_t slots)
    : groups_(groups), head_(head), slots_(slots), keys_(layers, Panels(groups)), values_(keys_) {}

std::int64_t RowMemory::larger() const { return padded(std::max(slots_, room_ + room_ / 2)); }

void RowMemory::settle(Layout layout) {
  if (slots_ <= room_) return;
  room_ = larger();
  for (Panels& keys : keys_) keys.settle(layout, room_, head_);
  for (Panels& values : values_) values.settle(layout, head_, room_);
}

void RowMemory::settle(const at::TensorOptions& options) {
  if (slots_ <= room_) return;
  const std::int64_t more = larger();
  tensors_.resize(2 * keys_.size());
  for (at::Tensor& tensor : tensors_) {
    const at::Tensor grown = at::zeros({more, groups_, head_}, options);
    if (room_ > 0) grown.narrow(0, 0, room_).copy_(tensor);
    tensor = grown;
  }
  room_ = more;
}

void RowMemory::put(Place place, const float* key, const float* value) {
  keys_[place.layer].set_output(place.group, place.slot, key, head_);
  values_[place.layer].set_input(place.group, place.slot, value, head_);
}

std::vector<float> RowMemory::key(Place place) const {
  std::vector<float> key(head_);
  for (std::int64_t i = 0; i < head_; ++i)
    key[i] = keys_[place.layer].at(place.group, place.slot, i);
  return key;
}

std::vector<float> RowMemory::value(Place place) const {
  std::vector<float> value(head_);
  for (std::int64_t i = 0; i < head_; ++i)
    value[i] = values_[place.layer].at(place.group, i, place.slot);
  return value;
}

void RowMemory::move(std::int64_t from, std::int64_t to) {
  if (from == to) return;
  for (const at::Tensor& tensor : tensors_) tensor.select(0, to).copy_(tensor.select(0, from));
  if (!tensors_.empty()) return;
  const auto layers = static_cast<std::int64_t>(keys_.size());
  for (std::int64_t l = 0; l < layers; ++l)
    for (std::int64_t g = 0; g < groups_; ++g)
      put({l, g, to}, key({l, g, from}).data(), value({l, g, from}).data());
}

PackedView RowMemory::keys(std::int64_t layer, std::int64_t group, std::int64_t seen) const {
  return keys_[layer].view(group, 0, seen, head_);
}

PackedView RowMemory::values(std::int64_t layer, std::int64_t group, std::int64_t seen) const {
  return values_[layer].view(group, 0, head_, seen);
}

}  // namespace draftlab
