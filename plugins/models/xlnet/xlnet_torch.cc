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
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/files.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"
#include "plugins/models/xlnet/xlnet_attention_torch.h"

namespace draftlab {
namespace {

using Json = nlohmann::json;

// Reads one key of config.json; `fallback` serves when it is absent (without one, the key is
// required).
template <class T>
T value(const Json& json, const std::string& path, const char* key,
        const Json& fallback = nullptr) {
  const Json& found = json.contains(key) ? json[key] : fallback;
  if (found.is_null()) throw DataError("{}: has no '{}'", path, key);
  try {
    return found.get<T>();
  } catch (const Json::exception&) {
    throw DataError("{}: '{}' is {}, which has the wrong type", path, key,
                    found.dump().substr(0, 60));
  }
}

std::int64_t size(const Json& json, const std::string& path, const char* key, std::int64_t most) {
  if (json.contains(key) && !json[key].is_number_integer())
    throw DataError("{}: '{}' must be an integer, not {}", path, key,
                    json[key].dump().substr(0, 60));
  const auto number = value<std::int64_t>(json, path, key);
  if (number < 1 || number > most)
    throw DataError("{}: '{}' is {}, outside [1, {}]", path, key, number, most);
  return number;
}

// Calls visit(name, tensor, shape) for every weight that a network of this config has.
template <class Net, class Visit>
void each_weight(Net& net, Visit visit) {
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
  const std::string path = folder + "/config.json";
  std::ifstream file;
  if (std::filesystem::is_regular_file(path)) file.open(path);  // A pipe is not waited for.
  if (!file.is_open())
    throw DataError(
        "{}: cannot be read; a checkpoint is a folder with config.json and model.safetensors",
        path);
  const Json json = Json::parse(file, nullptr, false);
  if (!json.is_object()) throw DataError("{}: is not a JSON object", path);
  const auto family = value<std::string>(json, path, "model_type", "(none)");
  if (family != "xlnet")
    throw DataError("{}: is a checkpoint of another family, model_type '{}' instead of 'xlnet'",
                    path, family);
  const auto require = [&](const char* key, const Json& wanted) {
    if (json.contains(key) && json[key] != wanted)
      throw DataError("{}: '{}' is {}, only {} is supported", path, key,
                      json[key].dump().substr(0, 60), wanted.dump());
  };
  require("ff_activation", "gelu");
  require("attn_type", "bi");
  require("bi_data", false);
  require("clamp_len", -1);
  require("same_length", false);

  XlnetConfig config;
  config.vocab_size = size(json, path, "vocab_size", 10'000'000);
  config.d_model = size(json, path, "d_model", 65536);
  config.n_layer = size(json, path, "n_layer", 1024);
  config.n_head = size(json, path, "n_head", 1024);
  config.d_inner = size(json, path, "d_inner", 1 << 20);
  if (config.d_model % 2)
    throw DataError("{}: 'd_model' is {}, it must be even", path, config.d_model);
  config.d_head =
      json.contains("d_head") ? size(json, path, "d_head", 65536) : config.d_model / config.n_head;
  config.layer_norm_eps = value<double>(json, path, "layer_norm_eps", 1e-12);
  if (!(config.layer_norm_eps > 0)) throw DataError("{}: 'layer_norm_eps' must be positive", path);
  config.tie_word_embeddings = value<bool>(json, path, "tie_word_embeddings", true);
  config.mask_token_id = value<std::int64_t>(json, path, "mask_token_id", 6);
  if (config.mask_token_id < -1 || config.mask_token_id >= config.vocab_size) {
    throw DataError("{}: 'mask_token_id' is {}, outside the vocabulary of {}", path,
                    config.mask_token_id, config.vocab_size);
  }
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
  each_weight(*this, [](const std::string& name, at::Tensor& tensor,
                        const std::vector<std::int64_t>& shape) {
    tensor = name.ends_with("layer_norm.weight") ? at::ones(shape) : at::zeros(shape);
  });
  if (config.tie_word_embeddings) lm_weight = word_embedding;
}

std::vector<std::pair<std::string, at::Tensor>> Xlnet::named_parameters() const {
  std::vector<std::pair<std::string, at::Tensor>> all;
  each_weight(*this, [&](const std::string& name, const at::Tensor& tensor,
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
  each_weight(net,
              [](const std::string&, at::Tensor& tensor, const std::vector<std::int64_t>& shape) {
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
  each_weight(net, [&](const std::string& name, at::Tensor& tensor,
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

Hidden two_stream(const Xlnet& net, const at::Tensor& ids, const at::Tensor& blocked_content,
                  const at::Tensor& blocked_query, const at::Tensor& targets,
                  const ForwardOptions& options) {
  const XlnetConfig& config = net.config;
  const LinearProducts products{options.bf16};
  const std::int64_t batch = ids.size(0), length = ids.size(1), asked = targets.size(1);
  const std::int64_t d = config.d_model, heads = config.n_head, head = config.d_head,
                     width = heads * head;
  const double scale = 1 / std::sqrt(static_cast<double>(head));

  // Both streams share every weight, and keys and values come from content rows alone: query rows
  // are appended below them.
  const at::Tensor eye = at::eye(length, at::kBool);
  const at::Tensor all_blocked =
      at::cat({blocked_content.logical_and(eye.logical_not()), blocked_query}, 1);
  const at::Tensor all_positions =
      at::cat({at::arange(length, at::kLong).expand({batch, length}), targets}, 1);
  at::Tensor x =
      at::cat({at::embedding(net.word_embedding, ids), net.mask_emb.expand({batch, asked, d})}, 1);
  const at::Tensor offsets = positional_rows(length - 1, -length, d);

  // The content rows that the last layer need not compute.
  std::int64_t dropped = 0;
  for (std::size_t i = 0; i < net.layers.size(); ++i) {
    const XlnetLayer& layer = net.layers[i];
    if (i + 1 == net.layers.size() && !options.content) dropped = length;
    const std::int64_t rows = length - dropped + asked;
    const at::Tensor content = x.narrow(1, 0, length), above = x.narrow(1, dropped, rows);
    const at::Tensor positions = all_positions.narrow(1, dropped, rows),
                     blocked = all_blocked.narrow(1, dropped, rows);

    const at::Tensor q =
        products.matmul(above, layer.q.view({d, width})).view({batch, rows, heads, head});
    const at::Tensor k =
        products.matmul(content, layer.k.view({d, width})).view({batch, length, heads, head});
    const at::Tensor v =
        products.matmul(content, layer.v.view({d, width})).view({batch, length, heads, head});
    const at::Tensor r =
        products.matmul(offsets, layer.r.view({d, width})).view({2 * length, heads, head});

    const at::Tensor q_content = (q + products.cast(layer.r_w_bias))
                                     .permute({0, 2, 1, 3})
                                     .reshape({batch * heads, rows, head});
    const at::Tensor q_relative = (q + products.cast(layer.r_r_bias))
                                      .permute({2, 0, 1, 3})
                                      .reshape({heads, batch * rows, head});
    at::Tensor scores =
        at::bmm(q_content, k.permute({0, 2, 3, 1}).reshape({batch * heads, head, length}))
            .view({batch, heads, rows, length});
    const at::Tensor relative =
        at::bmm(q_relative, r.permute({1, 2, 0})).view({heads, batch, rows, 2 * length});
    if (options.segments.defined()) {
      const at::Tensor own = at::cat({options.segments, options.segments.gather(1, targets)}, 1)
                                 .narrow(1, dropped, rows);
      // The shape is [B, 1, R, L].
      const at::Tensor differs = own.unsqueeze(2).ne(options.segments.unsqueeze(1)).unsqueeze(1);
      const at::Tensor both = at::matmul((q + layer.r_s_bias).permute({0, 2, 1, 3}),
                                         layer.seg_embed.permute({1, 2, 0}));
      scores = scores + at::where(differs, both.narrow(3, 1, 1), both.narrow(3, 0, 1));
    }
    const at::Tensor weights = relative_softmax(scores, relative, positions, blocked, scale)
                                   .view({batch * heads, rows, length});
    const at::Tensor seen =
        at::bmm(weights, v.permute({0, 2, 1, 3}).reshape({batch * heads, length, head}));
    const at::Tensor joined =
        seen.view({batch, heads, rows, head}).permute({0, 2, 1, 3}).reshape({batch, rows, width});
    x = at::layer_norm(products.linear(joined, layer.o.view({d, width})) + above, {d},
                       layer.attention_norm, layer.attention_norm_bias, config.layer_norm_eps);
    const at::Tensor inner = at::gelu(products.linear(x, layer.inner, layer.inner_bias));
    x = at::layer_norm(products.linear(inner, layer.outer, layer.outer_bias) + x, {d},
                       layer.ff_norm, layer.ff_norm_bias, config.layer_norm_eps);
  }
  Hidden hidden;
  if (options.content) hidden.content = x.narrow(1, 0, length);
  hidden.query = x.narrow(1, x.size(1) - asked, asked);
  return hidden;
}

at::Tensor lm_logits(const Xlnet& net, const at::Tensor& hidden, bool bf16) {
  return LinearProducts{bf16}.linear(hidden, net.lm_weight, net.lm_bias).to(at::kFloat);
}

at::Tensor two_stream_logits(const Xlnet& net, const at::Tensor& ids,
                             const at::Tensor& blocked_content, const at::Tensor& blocked_query,
                             const at::Tensor& targets, const ForwardOptions& options) {
  return lm_logits(net,
                   two_stream(net, ids, blocked_content, blocked_query, targets, options).query,
                   options.bf16);
}

}  // namespace draftlab
