#include "plugins/models/transformer_rows_torch.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "plugins/models/xlnet_attention_torch.h"

namespace draftlab {
namespace {

constexpr std::size_t kTile = 16;      // rows that are attended together
constexpr float kUnseen = -3e38f;

std::int64_t padded(std::int64_t count) { return (count + 15) / 16 * 16; }

std::vector<float> floats(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  const at::Tensor copy = tensor.detach().to(at::kFloat).contiguous();
  return {copy.data_ptr<float>(), copy.data_ptr<float>() + copy.numel()};
}

// Uninitialised: a forward writes before it reads.
std::unique_ptr<float[]> room(std::int64_t count) { return std::unique_ptr<float[]>(new float[count]); }

// out = x / rms(x) * weight. The sum runs in sixteen lanes, whatever the machine has.
void rms_norm(const float* x, std::int64_t d, const float* weight, double epsilon, float* out) {
  float lanes[16] = {};
  std::int64_t i = 0;
  for (; i + 16 <= d; i += 16) for (int j = 0; j < 16; ++j) lanes[j] += x[i + j] * x[i + j];
  for (; i < d; ++i) lanes[i % 16] += x[i] * x[i];
  for (int half = 8; half > 0; half /= 2) for (int j = 0; j < half; ++j) lanes[j] += lanes[j + half];
  const auto inverse = static_cast<float>(1 / std::sqrt(lanes[0] / static_cast<double>(d) + epsilon));
  for (std::int64_t j = 0; j < d; ++j) out[j] = x[j] * inverse * weight[j];
}

// One past the last slot that a row sees outside of its memory.
std::int64_t outside_end(const MemoryRow& row) { return std::max(row.outside.limit, row.outside.end); }

void add(float* x, const float* y, std::int64_t count) { for (std::int64_t i = 0; i < count; ++i) x[i] += y[i]; }

}  // namespace

RowMemory::RowMemory(const TransformerConfig& config, std::int64_t slots)
    : groups_(config.num_key_value_heads), head_(config.head_dim), keys_(config.num_hidden_layers * groups_), values_(keys_.size()) {
  reserve(slots);
}

void RowMemory::reserve(std::int64_t slots) {
  if (slots <= slots_) return;
  const std::int64_t larger = padded(std::max(slots, slots_ + slots_ / 2)), panels = padded(head_) / 16;
  for (auto& keys : keys_) keys.resize(larger * head_);
  for (auto& values : values_) {
    std::vector<float> grown(larger * padded(head_));
    for (std::int64_t p = 0; p < panels && slots_ > 0; ++p) std::copy_n(values.data() + p * slots_ * 16, slots_ * 16, grown.data() + p * larger * 16);
    values = std::move(grown);
  }
  slots_ = larger;
}

void RowMemory::put(std::int64_t layer, std::int64_t group, std::int64_t slot, const float* key, const float* value) {
  float* keys = keys_[layer * groups_ + group].data() + slot / 16 * head_ * 16 + slot % 16;
  for (std::int64_t i = 0; i < head_; ++i) keys[i * 16] = key[i];
  float* values = values_[layer * groups_ + group].data();
  for (std::int64_t i = 0; i < head_; ++i) values[(i / 16 * slots_ + slot) * 16 + i % 16] = value[i];
}

std::vector<float> RowMemory::key(std::int64_t layer, std::int64_t group, std::int64_t slot) const {
  std::vector<float> key(head_);
  for (std::int64_t i = 0; i < head_; ++i) key[i] = keys_[layer * groups_ + group][(slot / 16 * head_ + i) * 16 + slot % 16];
  return key;
}

std::vector<float> RowMemory::value(std::int64_t layer, std::int64_t group, std::int64_t slot) const {
  std::vector<float> value(head_);
  for (std::int64_t i = 0; i < head_; ++i) value[i] = values_[layer * groups_ + group][(i / 16 * slots_ + slot) * 16 + i % 16];
  return value;
}

PackedView RowMemory::keys(std::int64_t layer, std::int64_t group, std::int64_t seen) const {
  return {head_, seen, keys_[layer * groups_ + group].data(), nullptr, 16 * head_};
}

PackedView RowMemory::values(std::int64_t layer, std::int64_t group, std::int64_t seen) const {
  return {seen, head_, values_[layer * groups_ + group].data(), nullptr, 16 * slots_};
}

TransformerRows::TransformerRows(Transformer net, bool bf16) : config_(net.config) {
  const at::NoGradGuard no_grad;
  embedding_ = net.embed_tokens.detach().to(bf16 ? at::kBFloat16 : at::kFloat).contiguous();
  head_ = RowLinear(net.lm_head.detach(), {}, bf16);
  norm_ = floats(net.norm);
  net.embed_tokens = net.lm_head = at::Tensor();
  for (TransformerLayer& from : net.layers) {
    Layer layer;
    const at::Tensor kv_bias = from.k_bias.defined() ? at::cat({from.k_bias, from.v_bias}) : at::Tensor();
    layer.q = RowLinear(from.q.detach(), from.q_bias, bf16);
    layer.kv = RowLinear(at::cat({from.k, from.v}), kv_bias, bf16);
    layer.o = RowLinear(from.o.detach(), from.o_bias, bf16);
    layer.gate_up = RowLinear(at::cat({from.gate, from.up}), {}, bf16);
    layer.down = RowLinear(from.down.detach(), {}, bf16);
    layer.input_norm = floats(from.input_layernorm);
    layer.post_norm = floats(from.post_attention_layernorm);
    layer.q_norm = floats(from.q_norm);
    layer.k_norm = floats(from.k_norm);
    layers_.push_back(std::move(layer));
    from = {};
  }
}

void TransformerRows::prepare(std::int64_t positions) {
  const std::int64_t half = config_.head_dim / 2;
  if (positions * half <= static_cast<std::int64_t>(cosines_.size())) return;
  const auto [cosine, sine] = rotary(at::arange(positions, at::kLong), config_);
  cosines_ = floats(cosine);
  sines_ = floats(sine);
}

void TransformerRows::turn(float* head, const std::vector<float>& norm, std::int32_t position, float scale) const {
  const std::int64_t half = config_.head_dim / 2;
  if (!norm.empty()) rms_norm(head, config_.head_dim, norm.data(), config_.rms_norm_eps, head);
  const float *cosine = cosines_.data() + position * half, *sine = sines_.data() + position * half;
  for (std::int64_t i = 0; i < half; ++i) {
    const float a = head[i], b = head[half + i];
    head[i] = scale * (a * cosine[i] - b * sine[i]);
    head[half + i] = scale * (b * cosine[i] + a * sine[i]);
  }
}

std::vector<TransformerRows::Tile> TransformerRows::tiles(std::span<const MemoryRow* const> rows) const {
  std::vector<Tile> tiles;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (tiles.empty() || tiles.back().count == kTile || rows[i]->memory != rows[i - 1]->memory) tiles.push_back({i, 0, 0, padded(outside_end(*rows[i]))});
    Tile& tile = tiles.back();
    ++tile.count;
    tile.seen = std::max(tile.seen, padded(rows[i]->limit));
    for (const std::int32_t extra : rows[i]->extras) tile.seen = std::max(tile.seen, padded(extra + 1));
  }
  return tiles;
}

void TransformerRows::attend(std::int64_t layer, std::int64_t group, const Tile& tile, std::span<const MemoryRow* const> rows,
                             const float* q, float* joined) const {
  thread_local std::vector<float> scratch, kept, line_scores;
  const std::int64_t head = config_.head_dim, all = config_.num_attention_heads * head, each = config_.num_attention_heads / config_.num_key_value_heads;
  const std::int64_t count = static_cast<std::int64_t>(tile.count), lines = count * each, first = static_cast<std::int64_t>(tile.first);
  scratch.resize(lines * (3 * head + tile.seen + tile.outside));
  float *queries = scratch.data(), *out = queries + lines * head, *more = out + lines * head, *scores = more + lines * head;
  float* const others = scores + lines * tile.seen;  // scores of what is outside
  for (std::int64_t r = 0; r < count; ++r) std::copy_n(q + (first + r) * all + group * each * head, each * head, queries + r * each * head);
  const RowMemory& memory = *rows[tile.first]->memory;
  const Outside& outside = rows[tile.first]->outside;
  product(memory.keys(layer, group, tile.seen), queries, lines, scores);
  if (tile.outside > 0) product(outside.memory->keys(layer, group, tile.outside), queries, lines, others);
  for (std::int64_t line = 0; line < lines; ++line) {
    const MemoryRow& row = *rows[first + line / each];
    float* own = scores + line * tile.seen;
    kept.clear();
    for (const std::int32_t extra : row.extras) kept.push_back(own[extra]);
    std::fill(own + row.limit, own + tile.seen, kUnseen);
    for (std::size_t i = 0; i < kept.size(); ++i) own[row.extras[i]] = kept[i];
    if (tile.outside == 0) {
      normalise_row(own, tile.seen);
      continue;
    }
    float* other = others + line * tile.outside;
    std::fill(other + outside.limit, other + std::max(outside.limit, outside.from), kUnseen);
    std::fill(other + outside_end(row), other + tile.outside, kUnseen);
    line_scores.assign(other, other + tile.outside);
    line_scores.insert(line_scores.end(), own, own + tile.seen);
    normalise_row(line_scores.data(), tile.outside + tile.seen);
    std::copy_n(line_scores.data(), tile.outside, other);
    std::copy_n(line_scores.data() + tile.outside, tile.seen, own);
  }
  product(memory.values(layer, group, tile.seen), scores, lines, out);
  if (tile.outside > 0) {
    product(outside.memory->values(layer, group, tile.outside), others, lines, more);
    add(out, more, lines * head);
  }
  for (std::int64_t r = 0; r < count; ++r) std::copy_n(out + r * each * head, each * head, joined + (first + r) * all + group * each * head);
}

at::Tensor TransformerRows::forward(std::span<const MemoryRow> rows) const {
  const at::NoGradGuard no_grad;
  const std::int64_t d = config_.hidden_size, head = config_.head_dim, inner = config_.intermediate_size;
  const std::int64_t heads = config_.num_attention_heads, groups = config_.num_key_value_heads, all = heads * head, shared = groups * head;
  const auto count = static_cast<std::int64_t>(rows.size());
  std::vector<const MemoryRow*> above, asked;
  for (const MemoryRow& row : rows) {
    above.push_back(&row);
    if (row.asked) asked.push_back(&row);
  }
  const auto x = room(count * d), normed = room(count * d), added = room(count * d), q = room(count * all), joined = room(count * all);
  const auto kv = room(count * 2 * shared), wide = room(count * 2 * inner), gated_rows = room(count * inner);
  const auto each_row = [](std::int64_t many, const auto& work) {
    at::parallel_for(0, many, 16, [&](std::int64_t begin, std::int64_t end) { for (std::int64_t i = begin; i < end; ++i) work(i); });
  };
  const auto norm = [&](const std::vector<float>& weight) {
    each_row(static_cast<std::int64_t>(above.size()), [&](std::int64_t i) { rms_norm(x.get() + i * d, d, weight.data(), config_.rms_norm_eps, normed.get() + i * d); });
  };

  for (std::int64_t i = 0; i < count; ++i) at::from_blob(x.get() + i * d, {d}).copy_(embedding_.select(0, rows[i].token));
  std::vector<Tile> together = tiles(above);
  const float scale = 1 / std::sqrt(static_cast<float>(head));
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    const auto index = static_cast<std::int64_t>(l);
    norm(layer.input_norm);
    layer.kv.apply(normed.get(), count, kv.get());
    each_row(count, [&](std::int64_t i) {
      for (std::int64_t g = 0; g < groups; ++g) {
        float* key = kv.get() + i * 2 * shared + g * head;
        turn(key, layer.k_norm, rows[i].position, 1);
        rows[i].memory->put(index, g, rows[i].slot, key, key + shared);
      }
    });
    if (l + 1 == layers_.size()) {  // of the rest only the asked rows' outputs are wanted
      for (std::size_t i = 0; i < asked.size(); ++i) {
        const std::int64_t from = asked[i] - rows.data(), to = static_cast<std::int64_t>(i);
        std::copy_n(x.get() + from * d, from == to ? 0 : d, x.get() + to * d);
        std::copy_n(normed.get() + from * d, from == to ? 0 : d, normed.get() + to * d);
      }
      above = asked;
      together = tiles(above);
    }
    const auto active = static_cast<std::int64_t>(above.size());
    layer.q.apply(normed.get(), active, q.get());
    each_row(active, [&](std::int64_t i) {
      for (std::int64_t h = 0; h < heads; ++h) turn(q.get() + i * all + h * head, layer.q_norm, above[i]->position, scale);
    });
    at::parallel_for(0, static_cast<std::int64_t>(together.size()) * groups, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) attend(index, i % groups, together[i / groups], above, q.get(), joined.get());
    });
    layer.o.apply(joined.get(), active, added.get());
    add(x.get(), added.get(), active * d);
    norm(layer.post_norm);
    layer.gate_up.apply(normed.get(), active, wide.get());
    each_row(active, [&](std::int64_t i) { gated(wide.get() + i * 2 * inner, wide.get() + (2 * i + 1) * inner, inner, gated_rows.get() + i * inner); });
    layer.down.apply(gated_rows.get(), active, added.get());
    add(x.get(), added.get(), active * d);
  }
  norm(norm_);
  at::Tensor logits = at::empty({static_cast<std::int64_t>(asked.size()), config_.vocab_size});
  head_.apply(normed.get(), static_cast<std::int64_t>(asked.size()), logits.data_ptr<float>());
  return logits;
}

}  // namespace draftlab
