#include "plugins/models/xlnet/xlnet_torch.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/files.h"
#include "plugins/models/nn/checkpoint/config_file.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"
#include "plugins/models/xlnet/xlnet_attention_torch.h"

namespace draftlab {
namespace {

// Calls visit(name, tensor, shape) for every weight that a network of this config has.
template <class Net, class Visit>
void each_xlnet_weight(Net& net, Visit visit) {
  const XlnetConfig& config = net.config;
  const std::int64_t d = config.d_model, heads = config.n_head, head = config.d_head,
                     inner = config.d_inner;
  using Shape = std::vector<std::int64_t>;
  visit("transformer.mask_emb", net.mask_emb, Shape{1, 1, d});
  visit("transformer.word_embedding.weight", net.word_embedding, Shape{config.vocab_size, d});
  for (std::size_t i = 0; i < net.layers.size(); ++i) {
    auto& layer = net.layers[i];
    const std::string name = "transformer.layer." + std::to_string(i) + ".",
                      attention = name + "rel_attn.", ff = name + "ff.";
    visit(attention + "q", layer.q, Shape{d, heads, head});
    visit(attention + "k", layer.k, Shape{d, heads, head});
    visit(attention + "v", layer.v, Shape{d, heads, head});
    visit(attention + "o", layer.o, Shape{d, heads, head});
    visit(attention + "r", layer.r, Shape{d, heads, head});
    visit(attention + "r_r_bias", layer.r_r_bias, Shape{heads, head});
    visit(attention + "r_s_bias", layer.r_s_bias, Shape{heads, head});
    visit(attention + "r_w_bias", layer.r_w_bias, Shape{heads, head});
    visit(attention + "seg_embed", layer.seg_embed, Shape{2, heads, head});
    visit(attention + "layer_norm.weight", layer.attention_norm, Shape{d});
    visit(attention + "layer_norm.bias", layer.attention_norm_bias, Shape{d});
    visit(ff + "layer_norm.weight", layer.ff_norm, Shape{d});
    visit(ff + "layer_norm.bias", layer.ff_norm_bias, Shape{d});
    visit(ff + "layer_1.weight", layer.inner, Shape{inner, d});
    visit(ff + "layer_1.bias", layer.inner_bias, Shape{inner});
    visit(ff + "layer_2.weight", layer.outer, Shape{d, inner});
    visit(ff + "layer_2.bias", layer.outer_bias, Shape{d});
  }
  if (!config.tie_word_embeddings)
    visit("lm_loss.weight", net.lm_weight, Shape{config.vocab_size, d});
  visit("lm_loss.bias", net.lm_bias, Shape{config.vocab_size});
}

// Computes matrix products in the chosen precision.
struct LinearProducts {
  bool bf16;
  at::Tensor cast(const at::Tensor& x) const { return bf16 ? x.to(at::kBFloat16) : x; }
  at::Tensor matmul(const at::Tensor& x, const at::Tensor& weight) const {
    return at::matmul(cast(x), cast(weight));
  }
  at::Tensor linear(const at::Tensor& x, const at::Tensor& weight,
                    const at::Tensor& bias = {}) const {
    return bias.defined() ? at::linear(cast(x), cast(weight), cast(bias))
                          : at::linear(cast(x), cast(weight));
  }
};

}  // namespace

XlnetConfig XlnetConfig::read(const std::string& folder) {
  const ConfigFile file = ConfigFile::in(folder);
  file.require_family("xlnet");
  file.require("ff_activation", "gelu");
  file.require("attn_type", "bi");
  file.require("bi_data", false);
  file.require("clamp_len", -1);
  file.require("same_length", false);

  XlnetConfig config;
  config.vocab_size = file.integer("vocab_size", 1, 10'000'000, 0);
  config.d_model = file.integer("d_model", 1, 65536, 0);
  config.n_layer = file.integer("n_layer", 1, 1024, 0);
  config.n_head = file.integer("n_head", 1, 1024, 0);
  config.d_inner = file.integer("d_inner", 1, 1 << 20, 0);
  if (config.d_model % 2)
    throw DataError("{}: 'd_model' is {}, it must be even", file.path(), config.d_model);
  config.d_head = file.integer("d_head", 1, 65536, config.d_model / config.n_head);
  config.layer_norm_eps = file.positive("layer_norm_eps", 1e-12);
  config.tie_word_embeddings = file.value<bool>("tie_word_embeddings", true);
  config.mask_token_id = file.integer("mask_token_id", -1, config.vocab_size - 1, 6);
  return config;
}

void XlnetConfig::write(const std::string& folder) const {
  const Json json{{"architectures", {"XLNetLMHeadModel"}},
                  {"model_type", "xlnet"},
                  {"attn_type", "bi"},
                  {"bi_data", false},
                  {"clamp_len", -1},
                  {"same_length", false},
                  {"untie_r", true},
                  {"ff_activation", "gelu"},
                  {"vocab_size", vocab_size},
                  {"d_model", d_model},
                  {"n_layer", n_layer},
                  {"n_head", n_head},
                  {"d_head", d_head},
                  {"d_inner", d_inner},
                  {"layer_norm_eps", layer_norm_eps},
                  {"tie_word_embeddings", tie_word_embeddings},
                  {"mask_token_id", mask_token_id},
                  {"bos_token_id", 1},
                  {"eos_token_id", 2},
                  {"pad_token_id", 5}};
  write_whole(folder + "/config.json", json.dump(2) + "\n");
}

Xlnet::Xlnet(const XlnetConfig& config) : config(config), layers(config.n_layer) {
  each_xlnet_weight(*this, [](const std::string& name, at::Tensor& tensor,
                              const std::vector<std::int64_t>& shape) {
    tensor = name.ends_with("layer_norm.weight") ? at::ones(shape) : at::zeros(shape);
  });
  if (config.tie_word_embeddings) lm_weight = word_embedding;
}

std::vector<std::pair<std::string, at::Tensor>> Xlnet::named_parameters() const {
  std::vector<std::pair<std::string, at::Tensor>> all;
  each_xlnet_weight(*this,
                    [&](const std::string& name, const at::Tensor& tensor,
                        const std::vector<std::int64_t>&) { all.emplace_back(name, tensor); });
  return all;
}

// Returns a network whose tensors are yet to be made.
static Xlnet bare(const XlnetConfig& config) {
  XlnetConfig none = config;
  none.n_layer = none.vocab_size = 0;
  Xlnet net(none);
  net.config = config;
  net.layers.resize(config.n_layer);
  return net;
}

Xlnet Xlnet::hollow(const XlnetConfig& config) {
  Xlnet net = bare(config);
  each_xlnet_weight(
      net, [](const std::string&, at::Tensor& tensor, const std::vector<std::int64_t>& shape) {
        tensor = at::empty(shape, at::TensorOptions(at::kFloat).device(at::kMeta));
      });
  if (config.tie_word_embeddings) net.lm_weight = net.word_embedding;
  return net;
}

Xlnet Xlnet::random(const XlnetConfig& config, std::uint64_t seed) {
  Xlnet net(config);
  const at::NoGradGuard no_grad;
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  for (auto& [name, tensor] : net.named_parameters()) {
    const bool bias =
        name.ends_with("layer_1.bias") || name.ends_with("layer_2.bias") || name == "lm_loss.bias";
    if (!bias && name.find("layer_norm") == std::string::npos) tensor.normal_(0, 0.02, generator);
  }
  return net;
}

Xlnet Xlnet::load(const std::string& folder, std::optional<at::ScalarType> type) {
  const XlnetConfig config = XlnetConfig::read(folder);
  Weights weights(weight_files(folder));
  const at::NoGradGuard no_grad;
  Xlnet net = bare(config);
  // An untied output matrix that was not stored falls back to the embedding; a tied one may be
  // stored.
  if (!weights.has("lm_loss.weight"))
    net.config.tie_word_embeddings = true;
  else if (config.tie_word_embeddings)
    weights.ignore("lm_loss.weight");
  each_xlnet_weight(net, [&](const std::string& name, at::Tensor& tensor,
                             const std::vector<std::int64_t>& shape) {
    tensor = weights.take(name, shape, type);
  });
  if (net.config.tie_word_embeddings) net.lm_weight = net.word_embedding;
  weights.expect_all_taken();
  return net;
}

void Xlnet::save(const std::string& folder, bool bf16) const {
  make_folder(folder);
  const at::NoGradGuard no_grad;
  write_weights(folder + "/model.safetensors", named_parameters(), bf16, {{"format", "pt"}});
  config.write(folder);
}

at::Tensor positional_rows(std::int64_t first, std::int64_t last, std::int64_t d_model) {
  const auto options = at::TensorOptions(at::kDouble);
  const at::Tensor frequencies = at::arange(0, d_model, 2, options)
                                     .mul(-std::log(10000.0) / static_cast<double>(d_model))
                                     .exp();
  const at::Tensor angles = at::outer(at::arange(first, last - 1, -1, options), frequencies);
  return at::cat({angles.sin(), angles.cos()}, -1).to(at::kFloat);
}

namespace {

// The rows of a full forward: content rows, and query rows below them. Both streams share every
// weight, and keys and values come from content rows alone.
class TwoStreams {
 public:
  TwoStreams(const Xlnet& net, const StreamInput& input, const ForwardOptions& options)
      : config_(net.config),
        products_{options.bf16},
        length_(input.ids.size(1)),
        content_segments_(options.segments),
        offsets_(positional_rows(length_ - 1, -length_, config_.d_model)) {
    const std::int64_t batch = input.ids.size(0), asked = input.targets.size(1);
    x_ = at::cat({at::embedding(net.word_embedding, input.ids),
                  net.mask_emb.expand({batch, asked, config_.d_model})},
                 1);
    const at::Tensor others = at::eye(length_, at::kBool).logical_not();
    blocked_ = at::cat({input.blocked_content.logical_and(others), input.blocked_query}, 1);
    positions_ =
        at::cat({at::arange(length_, at::kLong).expand({batch, length_}), input.targets}, 1);
    if (content_segments_.defined())
      segments_ = at::cat({content_segments_, content_segments_.gather(1, input.targets)}, 1);
  }

  // Sends the rows through a layer, which need not compute content where nobody reads it.
  void pass(const XlnetLayer& layer, bool drops_content) {
    const at::Tensor content = x_.narrow(1, 0, length_);
    for (at::Tensor* const of_rows : {&x_, &blocked_, &positions_, &segments_})
      if (drops_content && of_rows->defined())
        *of_rows = of_rows->narrow(1, length_, of_rows->size(1) - length_);
    const std::int64_t d = config_.d_model, heads = config_.n_head, head = config_.d_head;
    const std::int64_t batch = x_.size(0), rows = x_.size(1);
    const at::Tensor v = in_heads(content, layer.v);
    const at::Tensor seen =
        at::bmm(weights(layer, content).view({batch * heads, rows, length_}),
                v.permute({0, 2, 1, 3}).reshape({batch * heads, length_, head}));
    const at::Tensor joined = seen.view({batch, heads, rows, head})
                                  .permute({0, 2, 1, 3})
                                  .reshape({batch, rows, heads * head});
    x_ = at::layer_norm(products_.linear(joined, layer.o.view({d, heads * head})) + x_, {d},
                        layer.attention_norm, layer.attention_norm_bias, config_.layer_norm_eps);
    const at::Tensor inner = at::gelu(products_.linear(x_, layer.inner, layer.inner_bias));
    x_ = at::layer_norm(products_.linear(inner, layer.outer, layer.outer_bias) + x_, {d},
                        layer.ff_norm, layer.ff_norm_bias, config_.layer_norm_eps);
  }

  const at::Tensor& x() const { return x_; }

 private:
  // Maps x [..., d] to [..., H, dh].
  at::Tensor in_heads(const at::Tensor& x, const at::Tensor& weight) const {
    std::vector<std::int64_t> shape = x.sizes().vec();
    shape.back() = config_.n_head;
    shape.push_back(config_.d_head);
    return products_.matmul(x, weight.view({config_.d_model, -1})).view(shape);
  }

  // Returns the attention weights of all rows over the content, [B, H, R, L].
  at::Tensor weights(const XlnetLayer& layer, const at::Tensor& content) const {
    const std::int64_t heads = config_.n_head, head = config_.d_head;
    const std::int64_t batch = x_.size(0), rows = x_.size(1);
    const at::Tensor q = in_heads(x_, layer.q), k = in_heads(content, layer.k),
                     r = in_heads(offsets_, layer.r);
    const at::Tensor q_content = (q + products_.cast(layer.r_w_bias))
                                     .permute({0, 2, 1, 3})
                                     .reshape({batch * heads, rows, head});
    const at::Tensor q_relative = (q + products_.cast(layer.r_r_bias))
                                      .permute({2, 0, 1, 3})
                                      .reshape({heads, batch * rows, head});
    at::Tensor scores =
        at::bmm(q_content, k.permute({0, 2, 3, 1}).reshape({batch * heads, head, length_}))
            .view({batch, heads, rows, length_});
    const at::Tensor relative =
        at::bmm(q_relative, r.permute({1, 2, 0})).view({heads, batch, rows, 2 * length_});
    if (segments_.defined()) {
      // The shape is [B, 1, R, L].
      const at::Tensor differs =
          segments_.unsqueeze(2).ne(content_segments_.unsqueeze(1)).unsqueeze(1);
      const at::Tensor both = at::matmul((q + layer.r_s_bias).permute({0, 2, 1, 3}),
                                         layer.seg_embed.permute({1, 2, 0}));
      scores = scores + at::where(differs, both.narrow(3, 1, 1), both.narrow(3, 0, 1));
    }
    return relative_softmax({scores, relative, 1 / std::sqrt(static_cast<double>(head))},
                            positions_, blocked_);
  }

  const XlnetConfig& config_;
  LinearProducts products_;
  std::int64_t length_;
  at::Tensor content_segments_, offsets_;
  // Of every row: its state, the keys that it may not attend, its position, its segment.
  at::Tensor x_, blocked_, positions_, segments_;
};

}  // namespace

Hidden two_stream(const Xlnet& net, const StreamInput& input, const ForwardOptions& options) {
  TwoStreams streams(net, input, options);
  for (const XlnetLayer& layer : net.layers)
    streams.pass(layer, &layer == &net.layers.back() && !options.content);
  const at::Tensor& x = streams.x();
  const std::int64_t asked = input.targets.size(1);
  Hidden hidden;
  if (options.content) hidden.content = x.narrow(1, 0, input.ids.size(1));
  hidden.query = x.narrow(1, x.size(1) - asked, asked);
  return hidden;
}

at::Tensor lm_logits(const Xlnet& net, const at::Tensor& hidden, bool bf16) {
  return LinearProducts{bf16}.linear(hidden, net.lm_weight, net.lm_bias).to(at::kFloat);
}

at::Tensor two_stream_logits(const Xlnet& net, const StreamInput& input,
                             const ForwardOptions& options) {
  return lm_logits(net, two_stream(net, input, options).query, options.bf16);
}

}  // namespace draftlab
