#include "plugins/models/nn/transformer/device_rows_torch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <torch/version.h>
#if TORCH_VERSION_MAJOR >= 2
#include <ATen/ops/scaled_dot_product_attention.h>
#endif

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "plugins/models/nn/transformer/modulation_torch.h"

namespace draftlab {
namespace {

template <class Value>
at::Tensor integers(std::span<const MemoryRow> rows, const at::Device& device, const Value& value) {
  const at::Tensor numbers = at::empty({static_cast<std::int64_t>(rows.size())}, at::kLong);
  for (std::size_t i = 0; i < rows.size(); ++i)
    numbers.data_ptr<std::int64_t>()[i] = value(rows[i]);
  return numbers.to(device);
}

struct NormWeights {
  at::Tensor weight, bias;
};

// Computes a norm in f32, whatever its weights are kept in.
at::Tensor exact_norm(const at::Tensor& x, const NormWeights& weights, double epsilon) {
  const auto& [weight, bias] = weights;
  return norm(x, weight.to(at::kFloat), epsilon, bias.defined() ? bias.to(at::kFloat) : bias);
}

}  // namespace

DeviceRows::DeviceRows(Transformer net, const at::TensorOptions& options)
    : net_(std::move(net)), options_(options) {
  if (!net_.encoder.empty())
    throw ConfigError("a network with an encoder runs on the CPU: run.device must be cpu");
  const at::NoGradGuard no_grad;
  const auto move = [&](at::Tensor& tensor) {
    if (tensor.defined()) tensor = tensor.detach().to(options_).contiguous();
  };
  const bool tied = net_.lm_head.is_same(net_.embed_tokens);
  for (at::Tensor* tensor :
       {&net_.embed_tokens, &net_.embed_positions, &net_.norm, &net_.norm_bias})
    move(*tensor);
  if (tied)
    net_.lm_head = net_.embed_tokens;
  else
    move(net_.lm_head);
  move(net_.lm_head_bias);
  // What a noise level goes through stays f32.
  const auto move_map = [&](Linear& map) {
    for (at::Tensor* tensor : {&map.weight, &map.bias})
      if (tensor->defined()) *tensor = tensor->detach().to(options_.dtype(at::kFloat)).contiguous();
  };
  for (Linear* map : {&net_.condition.in, &net_.condition.out, &net_.modulation}) move_map(*map);
  for (TransformerLayer& layer : net_.layers) {
    for (at::Tensor* tensor : {&layer.input_layernorm,
                               &layer.post_attention_layernorm,
                               &layer.input_layernorm_bias,
                               &layer.post_attention_layernorm_bias,
                               &layer.q,
                               &layer.k,
                               &layer.v,
                               &layer.q_bias,
                               &layer.k_bias,
                               &layer.v_bias,
                               &layer.q_norm,
                               &layer.k_norm,
                               &layer.o,
                               &layer.o_bias,
                               &layer.gate,
                               &layer.up,
                               &layer.down,
                               &layer.up_bias,
                               &layer.down_bias,
                               &layer.router,
                               &layer.router_bias})
      move(*tensor);
    move_map(layer.modulation);
    for (FeedForward& expert : layer.experts)
      for (at::Tensor* tensor : {&expert.gate, &expert.up, &expert.down}) move(*tensor);
  }
}

std::vector<DeviceRows::Group> DeviceRows::groups(std::span<const MemoryRow> rows) const {
  std::vector<Group> all;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const MemoryRow& row = rows[i];
    if (row.layers.from > 0 || row.layers.until < net_.config.num_hidden_layers)
      throw ConfigError("early exit is computed on the CPU: run.device must be cpu");
    if (i == 0 || row.memory != rows[i - 1].memory)
      all.push_back({.first = static_cast<std::int64_t>(i),
                     .memory = row.memory,
                     .other = row.outside.memory});
    Group& group = all.back();
    ++group.count;
    group.own = std::max(group.own, row.limit);
    for (const std::int32_t extra : row.extras)
      group.own = std::max<std::int64_t>(group.own, extra + 1);
    group.outside = std::max({group.outside, row.outside.limit, row.outside.end});
  }
  for (Group& group : all) {
    const auto own = rows.subspan(group.first, group.count);
    group.memory->settle(options_);
    group.slots = integers(own, options_.device(), [](const MemoryRow& row) { return row.slot; });
    const at::Tensor blocked = at::ones({group.count, group.outside + group.own}, at::kBool);
    for (std::int64_t i = 0; i < group.count; ++i) {
      const MemoryRow& row = own[i];
      bool* const line = blocked.data_ptr<bool>() + i * (group.outside + group.own);
      std::fill_n(line, row.outside.limit, false);
      std::fill(line + row.outside.from, line + std::max(row.outside.from, row.outside.end), false);
      std::fill_n(line + group.outside, row.limit, false);
      for (const std::int32_t extra : row.extras) line[group.outside + extra] = false;
    }
    group.blocked = blocked.to(options_.device());
  }
  return all;
}

// Computes attention of a group's queries [rows, heads, dh]; the result is [rows, heads dh].
at::Tensor DeviceRows::attended(const Group& group, std::int64_t layer, const at::Tensor& q) const {
  at::Tensor keys = group.memory->key_tensor(layer).narrow(0, 0, group.own),
             values = group.memory->value_tensor(layer).narrow(0, 0, group.own);
  if (group.outside > 0) {
    keys = at::cat({group.other->key_tensor(layer).narrow(0, 0, group.outside), keys});
    values = at::cat({group.other->value_tensor(layer).narrow(0, 0, group.outside), values});
  }
  const std::int64_t shared = keys.size(1), each = q.size(1) / shared, head = q.size(2),
                     seen = keys.size(0);
  // The heads that share a key stand below one another: [shared, rows each, dh].
  const at::Tensor queries = q.view({group.count, shared, each, head})
                                 .transpose(0, 1)
                                 .reshape({shared, group.count * each, head});
  const at::Tensor blocked = group.blocked.unsqueeze(1)
                                 .expand({group.count, each, seen})
                                 .reshape({group.count * each, seen});
#if TORCH_VERSION_MAJOR >= 2
  const at::Tensor out =
      at::scaled_dot_product_attention(queries.unsqueeze(0), keys.transpose(0, 1).unsqueeze(0),
                                       values.transpose(0, 1).unsqueeze(0), blocked.logical_not())
          .squeeze(0);
#else
  const at::Tensor scores = at::bmm(queries, keys.permute({1, 2, 0})).to(at::kFloat) /
                            std::sqrt(static_cast<double>(head));
  const at::Tensor weights =
      scores.masked_fill(blocked, -std::numeric_limits<float>::infinity()).softmax(-1);
  const at::Tensor out = at::bmm(weights.to(values.scalar_type()), values.transpose(0, 1));
#endif
  return out.view({shared, group.count, each, head})
      .transpose(0, 1)
      .reshape({group.count, shared * each * head});
}

at::Tensor DeviceRows::entering(std::span<const MemoryRow> rows, const at::Tensor& places) const {
  const bool given = !rows.empty() && rows.front().token == kNoToken;
  if (given) {
    const std::int64_t d = net_.config.hidden_size;
    const at::Tensor states = at::empty({static_cast<std::int64_t>(rows.size()), d});
    float* to = states.data_ptr<float>();
    for (const MemoryRow& row : rows) to = std::copy_n(row.layers.state, d, to);
    return states.to(options_.device());
  }
  const at::Tensor ids =
      integers(rows, options_.device(), [](const MemoryRow& row) { return row.token; });
  const at::Tensor x = at::embedding(net_.embed_tokens, ids).to(at::kFloat);
  if (!net_.config.learned_positions()) return x;
  return x + at::embedding(net_.embed_positions, places).to(at::kFloat);
}

at::Tensor DeviceRows::forward(std::span<const MemoryRow> rows) const {
  const at::NoGradGuard no_grad;
  const TransformerConfig& config = net_.config;
  const double epsilon = config.rms_norm_eps;
  const at::ScalarType type = c10::typeMetaToScalarType(options_.dtype());
  const std::vector<Group> all = groups(rows);
  const at::Tensor places =
      integers(rows, options_.device(), [](const MemoryRow& row) { return row.position; });
  const auto [cosines, sines] = rotary(places, config);
  const at::Tensor cosine = cosines.unsqueeze(1), sine = sines.unsqueeze(1);
  const auto normed = [&](const at::Tensor& from, const at::Tensor& weight,
                          const at::Tensor& bias = {}) {
    return exact_norm(from, {weight, bias}, epsilon);
  };
  const auto heads = [&](const at::Tensor& from, const at::Tensor& weight, const at::Tensor& bias) {
    return at::linear(from, weight, bias).view({from.size(0), -1, config.head_dim});
  };
  const auto placed = [&](at::Tensor x, const at::Tensor& weight) {
    x = x.to(at::kFloat);
    if (weight.defined()) x = normed(x, weight);
    return (config.gpt2() ? x : rotated(x, cosine, sine)).to(type);
  };
  const at::Tensor condition = conditions(rows);
  at::Tensor x = entering(rows, places);
  for (std::int64_t l = 0; l < config.num_hidden_layers; ++l) {
    const TransformerLayer& layer = net_.layers[l];
    const auto [of_attention, of_network] = layer_modulation(layer.modulation, condition);
    const at::Tensor a =
        of_attention.normed(normed(x, layer.input_layernorm, layer.input_layernorm_bias)).to(type);
    const at::Tensor q = placed(heads(a, layer.q, layer.q_bias), layer.q_norm),
                     k = placed(heads(a, layer.k, layer.k_bias), layer.k_norm),
                     v = heads(a, layer.v, layer.v_bias);
    for (const Group& group : all) {
      group.memory->key_tensor(l).index_copy_(0, group.slots,
                                              k.narrow(0, group.first, group.count));
      group.memory->value_tensor(l).index_copy_(0, group.slots,
                                                v.narrow(0, group.first, group.count));
    }
    std::vector<at::Tensor> joined;
    for (const Group& group : all)
      joined.push_back(attended(group, l, q.narrow(0, group.first, group.count)));
    x = x + of_attention.added(at::linear(at::cat(joined), layer.o, layer.o_bias).to(at::kFloat));
    const at::Tensor b =
        of_network
            .normed(normed(x, layer.post_attention_layernorm, layer.post_attention_layernorm_bias))
            .to(type);
    x = x + of_network.added(feed_forward(layer, config, b).to(at::kFloat));
  }
  return leaving(rows, x, condition);
}

at::Tensor DeviceRows::conditions(std::span<const MemoryRow> rows) const {
  if (!net_.config.conditioned()) return {};
  std::vector<float> noise;
  for (const MemoryRow& row : rows) noise.push_back(row.noise);
  return noise_condition(net_.condition, at::tensor(noise, at::kFloat));
}

at::Tensor DeviceRows::leaving(std::span<const MemoryRow> rows, const at::Tensor& x,
                               const at::Tensor& condition) const {
  const bool has_head = net_.lm_head.defined();
  std::vector<std::int64_t> asked;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].asked) asked.push_back(static_cast<std::int64_t>(i));
  if (asked.empty()) return at::empty({0, has_head ? net_.config.vocab_size : x.size(1)});
  const at::Tensor last = at::empty({static_cast<std::int64_t>(asked.size())}, at::kLong);
  std::copy(asked.begin(), asked.end(), last.data_ptr<std::int64_t>());
  const at::Tensor places = last.to(options_.device());
  const Modulation by = last_modulation(
      net_.modulation, condition.defined() ? condition.index_select(0, places) : condition);
  const at::Tensor states = by.normed(
      exact_norm(x.index_select(0, places), {net_.norm, net_.norm_bias}, net_.config.rms_norm_eps));
  const at::Tensor left =
      has_head ? at::linear(states.to(options_.dtype()), net_.lm_head, net_.lm_head_bias) : states;
  return left.to(at::TensorOptions(at::kFloat).device(at::kCPU)).contiguous();
}

}  // namespace draftlab
