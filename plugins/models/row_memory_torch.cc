#include "plugins/models/row_memory_torch.h"

#include <ATen/ops/zeros.h>

namespace draftlab {
namespace {

std::int64_t padded(std::int64_t count) { return (count + 15) / 16 * 16; }

}  // namespace

RowMemory::RowMemory(const TransformerConfig& config, std::int64_t slots) : RowMemory(config, config.num_hidden_layers, slots) {}

RowMemory::RowMemory(const TransformerConfig& config, std::int64_t layers, std::int64_t slots)
    : RowMemory(layers, config.num_key_value_heads, config.head_dim, slots) {}

RowMemory::RowMemory(std::int64_t layers, std::int64_t groups, std::int64_t head, std::int64_t slots)
    : groups_(groups), head_(head), slots_(slots), keys_(layers * groups_), values_(keys_.size()) {}

void RowMemory::settle() {
  if (slots_ <= room_) return;
  const std::int64_t larger = padded(std::max(slots_, room_ + room_ / 2)), panels = padded(head_) / 16;
  for (auto& keys : keys_) keys.resize(larger * head_);
  for (auto& values : values_) {
    std::vector<float> grown(larger * padded(head_));
    for (std::int64_t p = 0; p < panels && room_ > 0; ++p) std::copy_n(values.data() + p * room_ * 16, room_ * 16, grown.data() + p * larger * 16);
    values = std::move(grown);
  }
  room_ = larger;
}

void RowMemory::settle(const at::TensorOptions& options) {
  if (slots_ <= room_) return;
  const std::int64_t larger = padded(std::max(slots_, room_ + room_ / 2));
  tensors_.resize(2 * keys_.size() / groups_);
  for (at::Tensor& tensor : tensors_) {
    const at::Tensor grown = at::zeros({larger, groups_, head_}, options);
    if (room_ > 0) grown.narrow(0, 0, room_).copy_(tensor);
    tensor = grown;
  }
  room_ = larger;
}

void RowMemory::put(std::int64_t layer, std::int64_t group, std::int64_t slot, const float* key, const float* value) {
  float* keys = keys_[layer * groups_ + group].data() + slot / 16 * head_ * 16 + slot % 16;
  for (std::int64_t i = 0; i < head_; ++i) keys[i * 16] = key[i];
  float* values = values_[layer * groups_ + group].data();
  for (std::int64_t i = 0; i < head_; ++i) values[(i / 16 * room_ + slot) * 16 + i % 16] = value[i];
}

std::vector<float> RowMemory::key(std::int64_t layer, std::int64_t group, std::int64_t slot) const {
  std::vector<float> key(head_);
  for (std::int64_t i = 0; i < head_; ++i) key[i] = keys_[layer * groups_ + group][(slot / 16 * head_ + i) * 16 + slot % 16];
  return key;
}

std::vector<float> RowMemory::value(std::int64_t layer, std::int64_t group, std::int64_t slot) const {
  std::vector<float> value(head_);
  for (std::int64_t i = 0; i < head_; ++i) value[i] = values_[layer * groups_ + group][(i / 16 * room_ + slot) * 16 + i % 16];
  return value;
}

void RowMemory::move(std::int64_t from, std::int64_t to) {
  if (from == to) return;
  for (auto& keys : keys_) for (std::int64_t i = 0; i < head_; ++i) keys[(to / 16 * head_ + i) * 16 + to % 16] = keys[(from / 16 * head_ + i) * 16 + from % 16];
  for (auto& values : values_) for (std::int64_t i = 0; i < head_; ++i) values[(i / 16 * room_ + to) * 16 + i % 16] = values[(i / 16 * room_ + from) * 16 + i % 16];
}

PackedView RowMemory::keys(std::int64_t layer, std::int64_t group, std::int64_t seen) const {
  return {head_, seen, keys_[layer * groups_ + group].data(), nullptr, 16 * head_};
}

PackedView RowMemory::values(std::int64_t layer, std::int64_t group, std::int64_t seen) const {
  return {seen, head_, values_[layer * groups_ + group].data(), nullptr, 16 * room_};
}

}  // namespace draftlab
