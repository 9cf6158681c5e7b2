#include "plugins/models/nn/transformer/transformer_training_torch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/linear.h>

#include <cmath>

#include "core/base/error.h"
#include "plugins/models/nn/kernels/decoder_kernels_torch.h"

namespace draftlab {
namespace {

// Layers in fused kernels, whose matrix products are in one type.
class FusedLayers {
 public:
  FusedLayers(const TransformerConfig& config, bool bf16)
      : config_(config), type_(bf16 ? at::kBFloat16 : at::kFloat) {}

  // Sends x through all layers. Of the last layer's output, only rows that are not skipped are
  // computed. `pass`, where there is one, gets the outputs of the others from there on, too.
  at::Tensor through(const std::vector<TransformerLayer>& layers, const TrainingCanvases& canvases,
                     const LayerInput& input, LayerPass* pass = nullptr) const {
    const double epsilon = config_.rms_norm_eps;
    const std::int64_t skipped = canvases.skipped, count = input.x.size(1);
    const auto [cosine, sine] = rotary(canvases.rows.position, config_);
    std::pair<at::Tensor, at::Tensor> lent_at;
    if (input.lent.defined())
      lent_at =
          rotary(at::arange(input.lent.size(1), at::kLong).expand(input.lent.sizes().slice(0, 2)),
                 config_);
    at::Tensor x = input.x;
    if (pass) pass->raw = {x};
    for (std::size_t l = 0; l < layers.size(); ++l) {
      const TransformerLayer& layer = layers[l];
      const std::int64_t left_out = l + 1 == layers.size() ? skipped : 0;
      const auto asking = [&](const at::Tensor& all) {
        return left_out ? all.narrow(1, left_out, count - left_out) : all;
      };
      const at::Tensor before = asking(x);
      at::Tensor a = rms_norm(x, layer.input_layernorm, epsilon, type_);
      if (input.beside.defined()) a = at::cat({input.beside.to(type_), a}, -1);
      const at::Tensor q = rotary_heads(linear(asking(a), layer.q, layer.q_bias), layer.q_norm,
                                        {asking(cosine), asking(sine), epsilon},
                                        1 / std::sqrt(static_cast<double>(config_.head_dim)));
      const auto key_of = [&](const at::Tensor& from, const std::pair<at::Tensor, at::Tensor>& at) {
        return rotary_heads(linear(from, layer.k, layer.k_bias), layer.k_norm,
                            {at.first, at.second, epsilon}, 1);
      };
      at::Tensor k = key_of(a, {cosine, sine}), v = heads(linear(a, layer.v, layer.v_bias));
      if (input.lent.defined()) {
        const at::Tensor lent = input.lent.to(type_);
        k = at::cat({key_of(lent, lent_at), k}, 2);
        v = at::cat({heads(linear(lent, layer.v, layer.v_bias)), v}, 2);
      }
      const at::Tensor seen = asking(canvases.rows.seen).contiguous();
      const at::Tensor attended =
          input.passes ? input.passes->attend(q, {k, v}, seen) : interval_attention(q, k, v, seen);
      x = before + linear(attended, layer.o, layer.o_bias);
      if (input.encoded.defined())
        x = x + crossed(layer, x, input.encoded, asking(canvases.source_seen).contiguous());
      const at::Tensor b = rms_norm(x, layer.post_attention_layernorm, epsilon, type_);
      x = x +
          linear(gated(linear(b, layer.gate), linear(b, layer.up)), layer.down, layer.down_bias);
      if (!pass) continue;
      if (!pass->kept.empty()) x = before + pass->kept[l] * (x - before);
      pass->raw.push_back(x);
      if (l + 1 < layers.size()) pass->exits.push_back(x.narrow(1, skipped, count - skipped));
    }
    return x;
  }

 private:
  at::Tensor linear(const at::Tensor& from, const at::Tensor& weight,
                    const at::Tensor& bias = {}) const {
    return bias.defined() ? at::linear(from, weight.to(type_), bias.to(type_))
                          : at::linear(from, weight.to(type_));
  }
  at::Tensor heads(const at::Tensor& all) const {
    return all.view({all.size(0), all.size(1), -1, config_.head_dim}).transpose(1, 2).contiguous();
  }
  // Returns what attending the source adds to x.
  at::Tensor crossed(const TransformerLayer& layer, const at::Tensor& x, const at::Tensor& source,
                     const at::Tensor& seen) const {
    const double scale = 1 / std::sqrt(static_cast<double>(config_.head_dim));
    const at::Tensor asked = heads(
        linear(rms_norm(x, layer.cross_layernorm, config_.rms_norm_eps, type_), layer.cross_q) *
        scale);
    const at::Tensor encoded = source.to(type_);
    return linear(interval_attention(asked, heads(linear(encoded, layer.cross_k)),
                                     heads(linear(encoded, layer.cross_v)), seen),
                  layer.cross_o);
  }

  const TransformerConfig& config_;
  at::ScalarType type_;
};

}  // namespace

at::Tensor training_hidden(const Transformer& net, const TrainingCanvases& canvases, bool bf16,
                           LayerPass* pass) {
  const TransformerConfig& config = net.config;
  if (config.gpt2() || config.llada2() || config.sedd())
    throw DataError("a checkpoint of family {} decodes, it is not trained", config.model_type);
  const FusedLayers fused(config, bf16);
  const auto embedded = [&](const TrainingRows& rows) {
    const at::Tensor x = at::embedding(net.embed_tokens, rows.ids);
    return config.learned_positions() ? x + at::embedding(net.embed_positions, rows.position) : x;
  };
  LayerInput input;
  if (!net.encoder.empty()) {
    const at::Tensor x =
        fused.through(net.encoder, {.rows = canvases.source}, {embedded(canvases.source)});
    input.encoded = rms_norm(x, net.encoder_norm, config.rms_norm_eps, at::kFloat);
    if (pass) pass->encoded = input.encoded;
  }
  input.x = embedded(canvases.rows);
  const at::Tensor x = fused.through(net.layers, canvases, input, pass);
  const auto normed = [&](const at::Tensor& state) {
    return rms_norm(state, net.norm, config.rms_norm_eps, at::kFloat);
  };
  if (pass)
    for (at::Tensor& exit : pass->exits) exit = normed(exit);
  return normed(x);
}

at::Tensor training_layers(const Transformer& net, const TrainingCanvases& canvases,
                           const LayerInput& input, bool bf16) {
  TrainingCanvases whole = canvases;
  whole.skipped = 0;
  return rms_norm(FusedLayers(net.config, bf16).through(net.layers, whole, input), net.norm,
                  net.config.rms_norm_eps, at::kFloat);
}

}  // namespace draftlab
