#include "plugins/models/nn/transformer/transformer_torch.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/files.h"
#include "plugins/models/nn/checkpoint/gguf_weights_torch.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"
#include "plugins/models/nn/transformer/gpt2_torch.h"
#include "plugins/models/nn/transformer/modulation_torch.h"

namespace draftlab {
namespace {

at::Tensor gated_network(const at::Tensor& x, const at::Tensor& gate, const at::Tensor& up,
                         const at::Tensor& down) {
  return at::linear(at::silu(at::linear(x, gate)) * at::linear(x, up), down);
}

// Computes what the experts chosen for x [n, d] answer. Scores are sigmoids; the bias decides which
// experts are chosen, but not with what weight. Chosen are the groups whose two best experts are
// best together, and of these groups the best experts.
at::Tensor experts_output(const TransformerLayer& layer, const Experts& experts,
                          const at::Tensor& x) {
  const std::int64_t rows = x.size(0), size = experts.count / experts.groups;
  const at::Tensor scores = at::linear(x.to(at::kFloat), layer.router.to(at::kFloat)).sigmoid(),
                   preferred = (scores + layer.router_bias.to(at::kFloat))
                                   .view({rows, experts.groups, size});
  const at::Tensor of_groups = std::get<0>(preferred.topk(std::min<std::int64_t>(2, size))).sum(-1);
  const at::Tensor closed =
      at::ones({rows, experts.groups, 1}, of_groups.options().dtype(at::kBool))
          .scatter(1, std::get<1>(of_groups.topk(experts.best_groups)).unsqueeze(-1), false);
  const at::Tensor chosen =
      std::get<1>(preferred.masked_fill(closed, -std::numeric_limits<float>::infinity())
                      .view({rows, -1})
                      .topk(experts.chosen));
  const at::Tensor own = scores.gather(1, chosen);
  const at::Tensor weights =
      at::zeros_like(scores).scatter(1, chosen, own / (own.sum(-1, true) + 1e-20) * experts.scale);
  at::Tensor out = at::zeros_like(x);
  for (std::int64_t e = 0; e < experts.count; ++e) {
    const FeedForward& expert = layer.experts[e];
    const at::Tensor weight = weights.select(1, e), routed = weight.nonzero().squeeze(1);
    if (routed.numel() == 0) continue;
    const at::Tensor made =
        gated_network(x.index_select(0, routed), expert.gate, expert.up, expert.down);
    out = out.index_add(0, routed,
                        (made * weight.index_select(0, routed).unsqueeze(1)).to(x.scalar_type()));
  }
  return out;
}

}  // namespace

at::Tensor norm(const at::Tensor& x, const at::Tensor& weight, double epsilon,
                const at::Tensor& bias) {
  if (bias.defined()) return at::layer_norm(x, weight.sizes(), weight, bias, epsilon);
  return x * (x.square().mean(-1, true) + epsilon).rsqrt() * weight;
}

at::Tensor rotated(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine) {
  const std::int64_t half = cosine.size(-1);
  const at::Tensor a = x.narrow(-1, 0, half), b = x.narrow(-1, half, half),
                   rest = x.narrow(-1, 2 * half, x.size(-1) - 2 * half);
  return at::cat({a * cosine - b * sine, b * cosine + a * sine, rest}, -1);
}

at::Tensor feed_forward(const TransformerLayer& layer, const TransformerConfig& config,
                        const at::Tensor& x) {
  if (!config.gated())
    return at::linear(
        at::gelu(at::linear(x, layer.up, layer.up_bias), config.exact_gelu ? "none" : "tanh"),
        layer.down, layer.down_bias);
  const at::Tensor made = gated_network(x, layer.gate, layer.up, layer.down);
  return layer.experts.empty() ? made : made + experts_output(layer, config.experts, x);
}

namespace {

// Computes softmax attention of queries [B, H, L, dh] over keys and values [B, G, K, dh]; the
// result is [B, L, H dh]. `blocked` is boolean, or undefined.
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const at::Tensor& blocked) {
  const std::int64_t each = q.size(1) / k.size(1);
  at::Tensor scores = at::matmul(q, k.repeat_interleave(each, 1).transpose(2, 3)) /
                      std::sqrt(static_cast<double>(q.size(3)));
  if (blocked.defined())
    scores = scores.masked_fill(blocked, -std::numeric_limits<float>::infinity());
  return at::matmul(scores.softmax(-1), v.repeat_interleave(each, 1)).transpose(1, 2).flatten(2, 3);
}

// What all layers of a forward read besides what the layer before put out.
struct Surroundings {
  const TransformerConfig& config;
  // The rotation of the rows' positions, [B, 1, L, rotary() / 2].
  at::Tensor cosine, sine;
  // Boolean, or undefined.
  at::Tensor blocked;
  // The source that an encoder read, [B, S, d], where there is one.
  at::Tensor encoded;
  // The condition of each canvas, [B, 1, c], where there is one.
  at::Tensor condition;
};

// Computes one layer over x [B, L, d].
at::Tensor layer_output(const TransformerLayer& layer, const Surroundings& around,
                        const at::Tensor& x) {
  const auto& [config, cosine, sine, blocked, encoded, condition] = around;
  const auto [of_attention, of_network] = layer_modulation(layer.modulation, condition);
  const double epsilon = config.rms_norm_eps;
  // Maps [B, L, n dh] to [B, n, L, dh].
  const auto split = [&](const at::Tensor& all) {
    return all.view({all.size(0), all.size(1), -1, around.config.head_dim}).transpose(1, 2);
  };
  const at::Tensor a =
      of_attention.normed(norm(x, layer.input_layernorm, epsilon, layer.input_layernorm_bias));
  at::Tensor q = split(at::linear(a, layer.q, layer.q_bias)),
             k = split(at::linear(a, layer.k, layer.k_bias));
  if (config.qk_norm()) {
    q = norm(q, layer.q_norm, epsilon);
    k = norm(k, layer.k_norm, epsilon);
  }
  if (!config.gpt2()) {
    q = rotated(q, cosine, sine);
    k = rotated(k, cosine, sine);
  }
  const at::Tensor seen = attention(q, k, split(at::linear(a, layer.v, layer.v_bias)), blocked);
  at::Tensor y = x + of_attention.added(at::linear(seen, layer.o, layer.o_bias));
  if (encoded.defined()) {
    const at::Tensor asking =
        split(at::linear(norm(y, layer.cross_layernorm, epsilon), layer.cross_q));
    y = y + at::linear(attention(asking, split(at::linear(encoded, layer.cross_k)),
                                 split(at::linear(encoded, layer.cross_v)), {}),
                       layer.cross_o);
  }
  const at::Tensor b = of_network.normed(
      norm(y, layer.post_attention_layernorm, epsilon, layer.post_attention_layernorm_bias));
  return y + of_network.added(feed_forward(layer, config, b.flatten(0, 1)).view_as(y));
}

}  // namespace

std::pair<at::Tensor, at::Tensor> rotary(const at::Tensor& positions,
                                         const TransformerConfig& config) {
  const auto options = at::TensorOptions(at::kDouble).device(positions.device());
  const double step = -2 * std::log(config.rope.theta) / static_cast<double>(config.rotary());
  at::Tensor frequencies = at::arange(0, config.rotary() / 2, options).mul(step).exp();
  if (config.rope.scaling.kind != RopeKind::none) {
    std::vector<double> divisors = rope_divisors(config.rope, config.rotary());
    frequencies = frequencies.div(
        at::from_blob(divisors.data(), {config.rotary() / 2}, at::kDouble).to(options.device()));
  }
  const at::Tensor angles = positions.to(at::kDouble).unsqueeze(-1) * frequencies;
  return {angles.cos().to(at::kFloat), angles.sin().to(at::kFloat)};
}

std::vector<at::Tensor> transformer_hidden(const Transformer& net, const ForwardInput& input) {
  const TransformerConfig& config = net.config;
  const at::Tensor each = noise_condition(net.condition, input.noise),
                   condition = each.defined() ? each.unsqueeze(1) : each;
  const auto run = [&](const std::vector<TransformerLayer>& layers, const ForwardInput& read,
                       const at::Tensor& encoded) {
    const auto [cosines, sines] = rotary(read.positions, config);
    const at::Tensor blocked = read.allowed.defined() ? read.allowed.logical_not() : at::Tensor();
    const Surroundings around{config,   cosines.unsqueeze(1), sines.unsqueeze(1), blocked, encoded,
                              condition};
    std::vector<at::Tensor> hidden{at::embedding(net.embed_tokens, read.ids)};
    if (config.learned_positions())
      hidden.back() = hidden.back() + at::embedding(net.embed_positions, read.positions);
    for (const TransformerLayer& layer : layers)
      hidden.push_back(layer_output(layer, around, hidden.back()));
    return hidden;
  };
  at::Tensor encoded;
  if (!net.encoder.empty()) {
    const at::Tensor places = at::arange(input.source.size(1), at::kLong).unsqueeze(0);
    encoded = norm(run(net.encoder, {input.source, places, {}}, {}).back(), net.encoder_norm,
                   config.rms_norm_eps);
  }
  std::vector<at::Tensor> hidden = run(net.layers, input, encoded);
  hidden.back() = last_modulation(net.modulation, condition)
                      .normed(norm(hidden.back(), net.norm, config.rms_norm_eps, net.norm_bias));
  return hidden;
}

at::Tensor transformer_logits(const Transformer& net, const ForwardInput& input) {
  return at::linear(transformer_hidden(net, input).back(), net.lm_head, net.lm_head_bias);
}

}  // namespace draftlab
