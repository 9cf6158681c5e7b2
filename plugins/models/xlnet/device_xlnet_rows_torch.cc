#include "plugins/models/xlnet/device_xlnet_rows_torch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace draftlab {
namespace {

// The table of relative terms grows by so many positions at a time.
constexpr std::int64_t kPositions = 64;

at::Tensor whole_numbers(const std::vector<std::int64_t>& numbers, const at::Device& device) {
  const at::Tensor tensor = at::empty({static_cast<std::int64_t>(numbers.size())}, at::kLong);
  std::copy(numbers.begin(), numbers.end(), tensor.data_ptr<std::int64_t>());
  return tensor.to(device);
}

}  // namespace

DeviceXlnetRows::DeviceXlnetRows(Xlnet net, const at::TensorOptions& options)
    : net_(std::move(net)), options_(options) {
  const at::NoGradGuard no_grad;
  const at::TensorOptions exact = options.dtype(at::kFloat);
  const auto move = [](at::Tensor& tensor, const at::TensorOptions& to) {
    tensor = tensor.detach().to(to).contiguous();
  };
  const bool tied = net_.lm_weight.is_same(net_.word_embedding);
  move(net_.word_embedding, options);
  move(net_.mask_emb, exact);
  if (tied)
    net_.lm_weight = net_.word_embedding;
  else
    move(net_.lm_weight, options);
  move(net_.lm_bias, options);
  for (XlnetLayer& layer : net_.layers) {
    for (at::Tensor* tensor : {&layer.q, &layer.k, &layer.v, &layer.o, &layer.r, &layer.inner,
                               &layer.inner_bias, &layer.outer, &layer.outer_bias})
      move(*tensor, options);
    for (at::Tensor* tensor : {&layer.r_w_bias, &layer.r_r_bias, &layer.attention_norm,
                               &layer.attention_norm_bias, &layer.ff_norm, &layer.ff_norm_bias})
      move(*tensor, exact);
  }
}

void DeviceXlnetRows::prepare(std::int64_t longest) {
  if (longest <= length_) return;
  const at::NoGradGuard no_grad;
  const std::int64_t d = net_.config.d_model, heads = net_.config.n_head, head = net_.config.d_head;
  length_ = (longest + kPositions - 1) / kPositions * kPositions;
  const at::Tensor positions = positional_rows(length_ - 1, 1 - length_, d).to(options_.device());
  relative_.clear();
  for (const XlnetLayer& layer : net_.layers)
    relative_.push_back(at::matmul(positions, layer.r.to(at::kFloat).view({d, heads * head}))
                            .view({2 * length_ - 1, heads, head})
                            .permute({1, 2, 0})
                            .to(options_)
                            .contiguous());
}

DeviceXlnetRows::Group DeviceXlnetRows::group(std::span<const Row* const> rows,
                                              const std::vector<std::int64_t>& own) const {
  const auto count = static_cast<std::int64_t>(own.size());
  Group group{.cache = rows[own.front()]->cache, .rows = whole_numbers(own, options_.device())};
  std::vector<std::int64_t> slots;
  std::int32_t first = rows[own.front()]->position, last = first;
  for (const std::int64_t i : own) {
    const Row& row = *rows[i];
    slots.push_back(row.index);
    group.seen = std::max(group.seen, row.limit);
    for (const std::int32_t extra : row.extras)
      group.seen = std::max<std::int64_t>(group.seen, extra + 1);
    first = std::min(first, row.position);
    last = std::max(last, row.position);
  }
  group.slots = whole_numbers(slots, options_.device());
  const std::vector<std::int32_t>& keys = group.cache->positions_;
  const auto [nearest, farthest] = std::minmax_element(keys.begin(), keys.begin() + group.seen);
  group.lowest = length_ - 1 - last + *nearest;
  group.width = length_ - first + *farthest - group.lowest;
  const at::Tensor blocked = at::ones({count, group.seen}, at::kBool),
                   offsets = at::empty({count, group.seen}, at::kLong);
  bool* hidden = blocked.data_ptr<bool>();
  std::int64_t* offset = offsets.data_ptr<std::int64_t>();
  for (const std::int64_t i : own) {
    const Row& row = *rows[i];
    std::fill_n(hidden, row.limit, false);
    for (const std::int32_t extra : row.extras) hidden[extra] = false;
    for (std::int64_t j = 0; j < group.seen; ++j)
      offset[j] = length_ - 1 - row.position + keys[j] - group.lowest;
    hidden += group.seen;
    offset += group.seen;
  }
  group.blocked = blocked.to(options_.device());
  group.offsets = offsets.to(options_.device());
  return group;
}

std::vector<DeviceXlnetRows::Group> DeviceXlnetRows::groups(
    std::span<const Row* const> rows) const {
  std::vector<const XlnetRowCache*> caches;
  std::vector<std::vector<std::int64_t>> own;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto at = std::find(caches.begin(), caches.end(), rows[i]->cache) - caches.begin();
    if (at == static_cast<std::ptrdiff_t>(caches.size())) {
      caches.push_back(rows[i]->cache);
      own.emplace_back();
    }
    own[at].push_back(static_cast<std::int64_t>(i));
  }
  std::vector<Group> all;
  for (const std::vector<std::int64_t>& of_cache : own) all.push_back(group(rows, of_cache));
  return all;
}

at::Tensor DeviceXlnetRows::entering(std::span<const Row> content, std::int64_t queries) const {
  std::vector<std::int64_t> ids;
  for (const Row& row : content) ids.push_back(row.token);
  const std::int64_t d = net_.config.d_model;
  return at::cat(
      {at::embedding(net_.word_embedding, whole_numbers(ids, options_.device())).to(at::kFloat),
       net_.mask_emb.view({1, d}).expand({queries, d})});
}

void DeviceXlnetRows::put_keys(std::int64_t l, const std::vector<Group>& groups,
                               const at::Tensor& x) const {
  const XlnetLayer& layer = net_.layers[l];
  const std::int64_t d = net_.config.d_model, heads = net_.config.n_head, head = net_.config.d_head;
  const at::Tensor from = x.to(options_.dtype());
  const auto in_heads = [&](const at::Tensor& weight) {
    return at::matmul(from, weight.view({d, heads * head})).view({-1, heads, head});
  };
  const at::Tensor keys = in_heads(layer.k), values = in_heads(layer.v);
  for (const Group& group : groups) {
    const RowMemory& memory = group.cache->memory_;
    memory.key_tensor(l).index_copy_(0, group.slots, keys.index_select(0, group.rows));
    memory.value_tensor(l).index_copy_(0, group.slots, values.index_select(0, group.rows));
  }
}

// Scores are (q + r_w_bias) . key + (q + r_r_bias) . W_r PE(offset): a row takes the offsets of its
// own keys.
at::Tensor DeviceXlnetRows::attended(std::int64_t l, const Group& group,
                                     const at::Tensor& q) const {
  const XlnetLayer& layer = net_.layers[l];
  const std::int64_t heads = net_.config.n_head, head = net_.config.d_head, count = q.size(0);
  const at::Tensor keys = group.cache->memory_.key_tensor(l).narrow(0, 0, group.seen),
                   values = group.cache->memory_.value_tensor(l).narrow(0, 0, group.seen);
  const auto scored = [&](const at::Tensor& bias, const at::Tensor& against) {
    return at::bmm((q + bias).to(options_.dtype()).transpose(0, 1), against).to(at::kFloat);
  };
  const at::Tensor content = scored(layer.r_w_bias, keys.permute({1, 2, 0})),
                   relative =
                       scored(layer.r_r_bias, relative_[l].narrow(2, group.lowest, group.width));
  const at::Tensor scores =
      (content +
       relative.gather(2, group.offsets.unsqueeze(0).expand({heads, count, group.seen}))) /
      std::sqrt(static_cast<double>(head));
  const at::Tensor weights =
      scores.masked_fill(group.blocked, -std::numeric_limits<float>::infinity()).softmax(-1);
  return at::bmm(weights.to(options_.dtype()), values.transpose(0, 1))
      .transpose(0, 1)
      .reshape({count, heads * head});
}

at::Tensor DeviceXlnetRows::attended(std::int64_t l, const std::vector<Group>& groups,
                                     const at::Tensor& x) const {
  const std::int64_t d = net_.config.d_model, heads = net_.config.n_head, head = net_.config.d_head;
  const at::Tensor q = at::matmul(x.to(options_.dtype()), net_.layers[l].q.view({d, heads * head}))
                           .to(at::kFloat)
                           .view({-1, heads, head});
  const at::Tensor joined = at::empty({x.size(0), heads * head}, options_);
  for (const Group& group : groups)
    joined.index_copy_(0, group.rows, attended(l, group, q.index_select(0, group.rows)));
  return joined;
}

at::Tensor DeviceXlnetRows::layer_output(std::int64_t l, const std::vector<Group>& groups,
                                         const at::Tensor& x) const {
  const XlnetLayer& layer = net_.layers[l];
  const std::int64_t d = net_.config.d_model;
  const auto normed = [&](const at::Tensor& sum, const at::Tensor& weight, const at::Tensor& bias) {
    return at::layer_norm(sum, {d}, weight, bias, net_.config.layer_norm_eps);
  };
  const at::Tensor y =
      normed(at::linear(attended(l, groups, x), layer.o.view({d, -1})).to(at::kFloat) + x,
             layer.attention_norm, layer.attention_norm_bias);
  const at::Tensor inner =
      at::gelu(at::linear(y.to(options_.dtype()), layer.inner, layer.inner_bias).to(at::kFloat));
  return normed(
      at::linear(inner.to(options_.dtype()), layer.outer, layer.outer_bias).to(at::kFloat) + y,
      layer.ff_norm, layer.ff_norm_bias);
}

at::Tensor DeviceXlnetRows::forward(std::span<const Row> content,
                                    std::span<const Row> queries) const {
  const at::NoGradGuard no_grad;
  const auto contents = static_cast<std::int64_t>(content.size()),
             asked = static_cast<std::int64_t>(queries.size()),
             layers = static_cast<std::int64_t>(net_.layers.size());
  for (const Row& row : content) row.cache->memory_.settle(options_);
  std::vector<const Row*> all, asking;
  for (const Row& row : content) all.push_back(&row);
  const std::vector<Group> put = groups(all);
  for (const Row& row : queries) {
    all.push_back(&row);
    asking.push_back(&row);
  }
  const std::vector<Group> together = groups(all), last = groups(asking);
  at::Tensor x = entering(content, asked);
  for (std::int64_t l = 0; l < layers; ++l) {
    put_keys(l, put, x.narrow(0, 0, contents));
    // Nobody reads what the last layer makes of content rows.
    const bool ends = l + 1 == layers;
    if (ends && asked == 0) break;
    x = layer_output(l, ends ? last : together, ends ? x.narrow(0, contents, asked) : x);
  }
  if (asked == 0) return at::empty({0, net_.config.vocab_size});
  return at::linear(x.to(options_.dtype()), net_.lm_weight, net_.lm_bias)
      .to(at::TensorOptions(at::kFloat).device(at::kCPU))
      .contiguous();
}

}  // namespace draftlab
