// Widens XLNet. Its norms are LayerNorms behind each sum, so the row is repeated; a layer that
// changes nothing then still applies its norms, which leave a normed row as it is while their
// weights are one: those of the last real layer move to the last layer of all. A tied head sums so
// many equal logits, for which these weights are divided by the copies.
//
// The position encoding of a wider row has more frequencies, among them the old ones.
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "plugins/models/nn/checkpoint/weights_torch.h"
#include "plugins/models/widen/families_torch.h"
#include "plugins/models/xlnet/xlnet_torch.h"

namespace draftlab {
namespace {

XlnetConfig grown_config(XlnetConfig config, const Growth& growth) {
  config.d_model *= growth.copies;
  config.n_head *= growth.copies;
  config.d_inner = growth.inner;
  config.n_layer += growth.layers;
  return config;
}

class XlnetGrowth {
 public:
  explicit XlnetGrowth(const Growth& growth) : growth_(growth) {}

  at::Tensor row(const at::Tensor& tensor, std::int64_t dim = 0) const {
    return repeated(tensor, dim, growth_.copies * tensor.size(dim));
  }
  // [d, H, dh], which reads the row.
  at::Tensor projection(const at::Tensor& weight) const {
    return padded(row(weight, 1), 0, growth_.copies * weight.size(0));
  }
  // The same, which reads a position encoding: [sines, cosines] of d / 2 frequencies each, of which
  // every copies-th of the wider encoding is an old one.
  at::Tensor positions(const at::Tensor& weight) const {
    std::vector<std::int64_t> shape = weight.sizes().vec();
    shape[0] *= growth_.copies;
    const at::Tensor wide = at::zeros(shape, weight.options());
    wide.index_copy_(0, at::arange(0, shape[0], growth_.copies, at::kLong), weight);
    return row(wide, 1);
  }

  XlnetLayer layer(const XlnetLayer& from) const {
    XlnetLayer to;
    to.q = projection(from.q);
    to.k = projection(from.k);
    to.v = projection(from.v);
    to.r = positions(from.r);
    to.o = padded(row(from.o), 1, growth_.copies * from.o.size(1));
    to.r_r_bias = row(from.r_r_bias);
    to.r_s_bias = row(from.r_s_bias);
    to.r_w_bias = row(from.r_w_bias);
    to.seg_embed = row(from.seg_embed, 1);
    to.attention_norm = row(from.attention_norm);
    to.attention_norm_bias = row(from.attention_norm_bias);
    to.inner =
        repeated(padded(from.inner, 1, growth_.copies * from.inner.size(1)), 0, growth_.inner);
    to.inner_bias = repeated(from.inner_bias, 0, growth_.inner);
    to.outer = padded(row(from.outer), 1, growth_.inner);
    to.outer_bias = row(from.outer_bias);
    to.ff_norm = row(from.ff_norm);
    to.ff_norm_bias = row(from.ff_norm_bias);
    return to;
  }

  // Adds nothing to the row, and norms it twice with weights of one.
  XlnetLayer idle_layer(const XlnetLayer& from) const {
    XlnetLayer to = layer(from);
    for (at::Tensor* tensor :
         {&to.o, &to.outer, &to.outer_bias, &to.attention_norm_bias, &to.ff_norm_bias})
      *tensor = at::zeros_like(*tensor);
    for (at::Tensor* tensor : {&to.attention_norm, &to.ff_norm}) *tensor = at::ones_like(*tensor);
    return to;
  }

 private:
  Growth growth_;
};

void write_xlnet(const std::string& folder, const Growth& growth, const std::string& out) {
  const Xlnet from = Xlnet::load(folder);
  const bool tied = from.config.tie_word_embeddings;
  const XlnetGrowth grow(growth);
  XlnetConfig none = grown_config(from.config, growth);
  none.n_layer = none.vocab_size = 0;
  Xlnet to(none);
  to.config = grown_config(from.config, growth);
  to.word_embedding = grow.row(from.word_embedding, 1);
  to.mask_emb = grow.row(from.mask_emb, 2);
  to.lm_weight =
      tied ? to.word_embedding : padded(from.lm_weight, 1, growth.copies * from.lm_weight.size(1));
  to.lm_bias = from.lm_bias;
  for (const XlnetLayer& layer : from.layers) to.layers.push_back(grow.layer(layer));
  const double copies = tied ? static_cast<double>(growth.copies) : 1;
  const at::Tensor weight = to.layers.back().ff_norm / copies,
                   bias = to.layers.back().ff_norm_bias / copies;
  for (std::int64_t i = 0; i < growth.layers; ++i) {
    XlnetLayer& last = to.layers.back();
    last.ff_norm = at::ones_like(weight);
    last.ff_norm_bias = at::zeros_like(bias);
    to.layers.push_back(grow.idle_layer(from.layers.back()));
  }
  to.layers.back().ff_norm = weight;
  to.layers.back().ff_norm_bias = bias;
  to.save(out, stored_as_bf16(weight_files(folder).front()));
}

}  // namespace

Widening widen_xlnet(const std::string& folder) {
  const XlnetConfig config = Xlnet::load(folder, std::nullopt).config;
  const auto count = [config](const Growth& growth) {
    std::int64_t parameters = 0;
    for (const auto& [name, tensor] :
         Xlnet::hollow(grown_config(config, growth)).named_parameters())
      parameters += tensor.numel();
    return parameters;
  };
  return {.parameters = count({1, 0, config.d_inner}),
          .inner = config.d_inner,
          .inner_is_free = true,
          .count = count,
          .exact = [](const Growth& growth) { return growth.copies == 1 && growth.layers == 0; },
          .write = [folder](const Growth& growth,
                            const std::string& out) { write_xlnet(folder, growth, out); }};
}

}  // namespace draftlab
