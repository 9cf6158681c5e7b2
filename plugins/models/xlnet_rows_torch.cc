#include "plugins/models/xlnet_rows_torch.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

namespace draftlab {
namespace {

std::int64_t padded(std::int64_t head) { return (head + 15) / 16 * 16; }

// x = norm(x + y), row by row.
void add_and_norm(float* x, const float* y, std::int64_t rows, std::int64_t d, const at::Tensor& weight, const at::Tensor& bias, double epsilon) {
  const float *scale = weight.data_ptr<float>(), *shift = bias.data_ptr<float>();
  for (std::int64_t row = 0; row < rows; ++row, x += d, y += d) {
    float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < d; ++i) sum += x[i] += y[i];
    const float mean = sum / static_cast<float>(d);
#pragma omp simd reduction(+ : squares)
    for (std::int64_t i = 0; i < d; ++i) squares += (x[i] - mean) * (x[i] - mean);
    const float inverse = static_cast<float>(1 / std::sqrt(squares / static_cast<double>(d) + epsilon));
    for (std::int64_t i = 0; i < d; ++i) x[i] = (x[i] - mean) * inverse * scale[i] + shift[i];
  }
}

}  // namespace

RowCache::RowCache(const XlnetConfig& config, std::int64_t capacity)
    : heads_(config.n_head), width_(padded(config.d_head)), capacity_(capacity), keys_(config.n_layer), values_(config.n_layer) {
  for (auto* layers : {&keys_, &values_}) for (auto& layer : *layers) layer.resize(heads_ * capacity_ * width_);
}

void RowCache::move(std::int64_t from, std::int64_t to) {
  if (from == to) return;
  for (auto* layers : {&keys_, &values_}) {
    for (auto& layer : *layers) {
      for (std::int64_t head = 0; head < heads_; ++head) {
        float* base = layer.data() + head * capacity_ * width_;
        std::copy_n(base + from * width_, width_, base + to * width_);
      }
    }
  }
  positions_[to] = positions_[from];
}

std::int64_t RowCache::append(std::int32_t position) {
  if (size() == capacity_) {  // only many paths at once need more rows than the canvas has positions
    const std::int64_t larger = 2 * capacity_;
    for (auto* layers : {&keys_, &values_}) {
      for (auto& layer : *layers) {
        std::vector<float> grown(heads_ * larger * width_);
        for (std::int64_t head = 0; head < heads_; ++head) {
          std::copy_n(layer.data() + head * capacity_ * width_, capacity_ * width_, grown.data() + head * larger * width_);
        }
        layer = std::move(grown);
      }
    }
    capacity_ = larger;
  }
  positions_.push_back(position);
  return size() - 1;
}

XlnetRows::XlnetRows(Xlnet net, bool bf16) : config_(net.config), width_(padded(net.config.d_head)) {
  const at::NoGradGuard no_grad;
  const std::int64_t d = config_.d_model, all = config_.n_head * config_.d_head;
  const auto floats = [](const at::Tensor& tensor) { return tensor.detach().to(at::kFloat).contiguous(); };
  if (!net.lm_weight.is_same(net.word_embedding)) {  // else the head holds it, too
    const bool narrow = bf16 || net.word_embedding.scalar_type() == at::kBFloat16;
    embedding_ = net.word_embedding.detach().to(narrow ? at::kBFloat16 : at::kFloat).contiguous();
  }
  mask_ = floats(net.mask_emb);
  head_ = RowLinear(net.lm_weight.detach(), net.lm_bias.detach(), bf16);
  net.word_embedding = net.lm_weight = at::Tensor();
  for (XlnetLayer& from : net.layers) {
    Layer layer;
    const auto transposed = [&](const at::Tensor& weight) { return weight.detach().view({d, all}).t(); };
    layer.q = RowLinear(transposed(from.q), {}, bf16);
    layer.kv = RowLinear(at::cat({transposed(from.k), transposed(from.v)}), {}, bf16);
    layer.o = RowLinear(from.o.detach().view({d, all}), {}, bf16);
    layer.inner = RowLinear(from.inner.detach(), from.inner_bias.detach(), bf16);
    layer.outer = RowLinear(from.outer.detach(), from.outer_bias.detach(), bf16);
    layer.content_bias = floats(from.r_w_bias);
    layer.relative_bias = floats(from.r_r_bias);
    layer.attention_norm = floats(from.attention_norm);
    layer.attention_norm_bias = floats(from.attention_norm_bias);
    layer.ff_norm = floats(from.ff_norm);
    layer.ff_norm_bias = floats(from.ff_norm_bias);
    layer.r = floats(from.r).view({d, all});
    layers_.push_back(std::move(layer));
    from = {};
  }
}

void XlnetRows::prepare(std::int64_t length) {
  if (length <= length_) return;
  const at::NoGradGuard no_grad;
  const std::int64_t d = config_.d_model, heads = config_.n_head, head = config_.d_head;
  const at::Tensor offsets = positional_rows(length - 1, 1 - length, d).flip(0);
  for (Layer& layer : layers_) {
    const at::Tensor rows = at::matmul(offsets, layer.r).view({2 * length - 1, heads, head});
    layer.relative = at::zeros({heads, 2 * length - 1, width_});
    layer.relative.narrow(2, 0, head).copy_(rows.transpose(0, 1));
  }
  length_ = length;
}

void XlnetRows::store(const Row& row, std::size_t layer, const float* kv) const {
  const std::int64_t heads = config_.n_head, head = config_.d_head;
  for (std::int64_t h = 0; h < heads; ++h) {
    std::copy_n(kv + h * head, head, row.cache->keys(layer, h) + row.index * width_);
    std::copy_n(kv + (heads + h) * head, head, row.cache->values(layer, h) + row.index * width_);
  }
}

void XlnetRows::attend_row(const Row& row, std::size_t layer, std::int64_t head, const float* q, float* out) const {
  thread_local std::vector<float> scratch;
  const std::int64_t seen = row.limit + static_cast<std::int64_t>(row.extras.size()), width = config_.d_head;
  scratch.assign(3 * width_, 0.f);
  scratch.resize(3 * width_ + seen);
  float *q_content = scratch.data(), *q_relative = q_content + width_, *result = q_relative + width_;
  const Layer& own = layers_[layer];
  const float* content_bias = own.content_bias.data_ptr<float>() + head * width;
  const float* relative_bias = own.relative_bias.data_ptr<float>() + head * width;
  for (std::int64_t i = 0; i < width; ++i) {
    q_content[i] = q[i] + content_bias[i];
    q_relative[i] = q[i] + relative_bias[i];
  }
  const float* origin = own.relative.data_ptr<float>() + (head * (2 * length_ - 1) + length_ - 1) * width_;
  attend({q_content, q_relative, row.cache->keys(layer, head), row.cache->values(layer, head), origin, row.cache->positions_.data(),
          row.position, row.limit, row.extras.data(), seen - row.limit, width_, 1 / std::sqrt(static_cast<float>(width))},
         result + width_, result);
  std::copy_n(result, width, out);
}

at::Tensor XlnetRows::forward(std::span<const Row> content, std::span<const Row> queries) const {
  const at::NoGradGuard no_grad;
  const std::int64_t d = config_.d_model, heads = config_.n_head, head = config_.d_head, all = heads * head;
  const std::int64_t contents = static_cast<std::int64_t>(content.size()), asked = static_cast<std::int64_t>(queries.size());
  const auto row = [&](std::int64_t i) -> const Row& { return i < contents ? content[i] : queries[i - contents]; };

  // Content rows first, so that the last layer, which needs nothing of them but keys and values, can leave them out.
  std::vector<float> x((contents + asked) * d), q((contents + asked) * all), kv(contents * 2 * all), joined(q.size()), added(x.size());
  at::Tensor inner = at::empty({contents + asked, config_.d_inner});
  for (std::int64_t i = 0; i < contents; ++i) {
    if (embedding_.defined()) at::from_blob(x.data() + i * d, {d}).copy_(embedding_.select(0, content[i].token));
    else head_.weights_of(content[i].token, x.data() + i * d);
  }
  for (std::int64_t i = contents; i < contents + asked; ++i) std::copy_n(mask_.data_ptr<float>(), d, x.data() + i * d);

  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    const std::int64_t first = l + 1 == layers_.size() ? contents : 0, rows = contents + asked - first;
    float* above = x.data() + first * d;
    layer.kv.apply(x.data(), contents, kv.data());
    for (std::int64_t i = 0; i < contents; ++i) store(content[i], l, kv.data() + i * 2 * all);
    layer.q.apply(above, rows, q.data());
    at::parallel_for(0, rows * heads, 4, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t at = i / heads * all + i % heads * head;
        attend_row(row(first + i / heads), l, i % heads, q.data() + at, joined.data() + at);
      }
    });
    layer.o.apply(joined.data(), rows, added.data());
    add_and_norm(above, added.data(), rows, d, layer.attention_norm, layer.attention_norm_bias, config_.layer_norm_eps);
    at::Tensor hidden = inner.narrow(0, 0, rows);
    layer.inner.apply(above, rows, hidden.data_ptr<float>());
    at::gelu_(hidden);
    layer.outer.apply(hidden.data_ptr<float>(), rows, added.data());
    add_and_norm(above, added.data(), rows, d, layer.ff_norm, layer.ff_norm_bias, config_.layer_norm_eps);
  }
  at::Tensor logits = at::empty({asked, config_.vocab_size});
  head_.apply(x.data() + contents * d, asked, logits.data_ptr<float>());
  return logits;
}

}  // namespace draftlab
