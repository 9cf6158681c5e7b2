#include "plugins/models/nn/transformer/transformer_training_torch.h"

#include <ATen/ATen.h>

#include <cmath>

#include "core/base/error.h"
#include "plugins/models/nn/kernels/decoder_kernels_torch.h"

namespace draftlab {
namespace {

// The source that the rows of a decoder attend besides one another.
struct EncodedSource {
  // The shape is [n, S, d].
  at::Tensor encoded;
  // The shape is [n, R, 3].
  at::Tensor seen;
};

// Sends x [n, R, d] through all layers. Of the last layer's output, only rows from `skipped` on are
// computed. `pass`, where there is one, gets the outputs of the others from there on, too.
at::Tensor through(const std::vector<TransformerLayer>& layers, const TransformerConfig& config,
                   const TrainingRows& rows, at::Tensor x, std::int64_t skipped, bool bf16,
                   const EncodedSource& source, LayerPass* pass = nullptr) {
  const at::ScalarType type = bf16 ? at::kBFloat16 : at::kFloat;
  const auto linear = [&](const at::Tensor& from, const at::Tensor& weight,
                          const at::Tensor& bias = {}) {
    return bias.defined() ? at::linear(from, weight.to(type), bias.to(type))
                          : at::linear(from, weight.to(type));
  };
  const auto heads = [&](const at::Tensor& all) {
    return all.view({all.size(0), all.size(1), -1, config.head_dim}).transpose(1, 2).contiguous();
  };
  const auto [cosine, sine] = rotary(rows.position, config);
  const double epsilon = config.rms_norm_eps,
               scale = 1 / std::sqrt(static_cast<double>(config.head_dim));
  const std::int64_t count = x.size(1);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const TransformerLayer& layer = layers[l];
    const std::int64_t left_out = l + 1 == layers.size() ? skipped : 0;
    const auto asking = [&](const at::Tensor& all) {
      return left_out ? all.narrow(1, left_out, count - left_out) : all;
    };
    const at::Tensor before = asking(x);
    const at::Tensor a = rms_norm(x, layer.input_layernorm, epsilon, type);
    const at::Tensor q = rotary_heads(linear(asking(a), layer.q, layer.q_bias), layer.q_norm,
                                      {asking(cosine), asking(sine), epsilon}, scale);
    const at::Tensor k =
        rotary_heads(linear(a, layer.k, layer.k_bias), layer.k_norm, {cosine, sine, epsilon}, 1);
    const at::Tensor v = heads(linear(a, layer.v, layer.v_bias));
    x = before +
        linear(interval_attention(q, k, v, asking(rows.seen).contiguous()), layer.o, layer.o_bias);
    if (source.encoded.defined()) {
      const at::Tensor asked =
          heads(linear(rms_norm(x, layer.cross_layernorm, epsilon, type), layer.cross_q) * scale);
      const at::Tensor encoded = source.encoded.to(type);
      x = x + linear(interval_attention(asked, heads(linear(encoded, layer.cross_k)),
                                        heads(linear(encoded, layer.cross_v)),
                                        asking(source.seen).contiguous()),
                     layer.cross_o);
    }
    const at::Tensor b = rms_norm(x, layer.post_attention_layernorm, epsilon, type);
    x = x + linear(gated(linear(b, layer.gate), linear(b, layer.up)), layer.down, layer.down_bias);
    if (!pass) continue;
    if (!pass->kept.empty()) x = before + pass->kept[l] * (x - before);
    if (l + 1 < layers.size()) pass->exits.push_back(x.narrow(1, skipped, count - skipped));
  }
  return x;
}

}  // namespace

at::Tensor training_hidden(const Transformer& net, const TrainingRows& rows, std::int64_t skipped,
                           bool bf16, const TrainingRows& source, const at::Tensor& source_seen,
                           LayerPass* pass) {
  const TransformerConfig& config = net.config;
  if (config.gpt2() || config.llada2())
    throw DataError("a checkpoint of family {} decodes, it is not trained", config.model_type);
  EncodedSource from{{}, source_seen};
  if (!net.encoder.empty()) {
    const at::Tensor x = through(net.encoder, config, source,
                                 at::embedding(net.embed_tokens, source.ids), 0, bf16, {});
    from.encoded = rms_norm(x, net.encoder_norm, config.rms_norm_eps, at::kFloat);
    if (pass) pass->encoded = from.encoded;
  }
  const at::Tensor x = through(net.layers, config, rows, at::embedding(net.embed_tokens, rows.ids),
                               skipped, bf16, from, pass);
  const auto normed = [&](const at::Tensor& state) {
    return rms_norm(state, net.norm, config.rms_norm_eps, at::kFloat);
  };
  if (pass)
    for (at::Tensor& exit : pass->exits) exit = normed(exit);
  return normed(x);
}

at::Tensor training_layers(const Transformer& net, const TrainingRows& rows, const at::Tensor& x,
                           bool bf16, const at::Tensor& encoded, const at::Tensor& source_seen) {
  return rms_norm(through(net.layers, net.config, rows, x, 0, bf16, {encoded, source_seen}),
                  net.norm, net.config.rms_norm_eps, at::kFloat);
}

}  // namespace draftlab
