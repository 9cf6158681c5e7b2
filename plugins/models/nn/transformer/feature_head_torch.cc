#include "plugins/models/nn/transformer/feature_head_torch.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <sstream>
#include <string_view>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/words.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"
#include "plugins/models/nn/kernels/decoder_kernels_torch.h"
#include "plugins/models/nn/transformer/speculator_torch.h"

namespace draftlab {
namespace {

std::string file_in(const std::string& folder) { return folder + "/feature_head.safetensors"; }
bool is_own(const std::string& folder) { return std::filesystem::is_regular_file(file_in(folder)); }

TransformerConfig layer_config(TransformerConfig config, std::int64_t layers) {
  config.num_hidden_layers = layers;
  config.num_encoder_layers = std::min<std::int64_t>(1, config.num_encoder_layers);
  config.vocab_size = 0;
  config.tie_word_embeddings = true;
  return config;
}

at::Tensor cast(const at::Tensor& x, bool bf16) { return bf16 ? x.to(at::kBFloat16) : x; }

at::Tensor ids_of(const std::vector<Token>& tokens) {
  const std::vector<std::int64_t> ids(tokens.begin(), tokens.end());
  return at::from_blob(const_cast<std::int64_t*>(ids.data()),
                       {static_cast<std::int64_t>(ids.size())}, at::kLong)
      .clone();
}

std::string joined_text(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t number : numbers)
    text += (text.empty() ? "" : " ") + std::to_string(number);
  return text;
}

// Reads a number that the file states, from 0 to `most`.
std::int64_t stated_number(const Weights& weights, const std::string& name, std::int64_t most) {
  const auto stated = weights.metadata().find(name);
  const std::string text = stated == weights.metadata().end() ? "" : stated->second;
  std::istringstream read(text);
  std::int64_t number = -1;
  read >> number;
  if (number < 0 || number > most)
    throw DataError("{}: '{}' is '{}', it must be a number from 0 to {}", weights.path(), name,
                    text, most);
  return number;
}

// Reads what the file says of its kind and of the layers that it reads.
FeatureShape stated_shape(const Weights& weights) {
  FeatureShape shape;
  const auto& stated = weights.metadata();
  const auto kinds = words(FeatureKind{});
  if (const auto kind = stated.find("kind"); kind != stated.end()) {
    const auto known = std::find(kinds.begin(), kinds.end(), kind->second);
    if (known == kinds.end())
      throw DataError("{}: 'kind' is '{}', which no feature head is", weights.path(), kind->second);
    shape.kind = static_cast<FeatureKind>(known - kinds.begin());
  }
  if (const auto layers = stated.find("layers"); layers != stated.end()) {
    std::istringstream text(layers->second);
    for (std::int64_t layer = 0; text >> layer;) shape.taps.push_back(layer);
  }
  if (shape.kind == FeatureKind::dflash) {
    shape.layers = stated_number(weights, "depth", 64);
    shape.block = stated_number(weights, "block", 4096);
    shape.mask = static_cast<Token>(stated_number(weights, "mask", 1 << 30));
  }
  return shape;
}

}  // namespace

std::vector<Token> tokens_at(const std::vector<std::int64_t>& offsets) {
  std::vector<Token> tokens;
  for (std::size_t row = 0; row < offsets.size(); ++row) {
    const std::int64_t token = static_cast<std::int64_t>(row) + offsets[row];
    const bool fits = token >= 0 && token < std::numeric_limits<Token>::max();
    tokens.push_back(fits ? static_cast<Token>(token) : kNoToken);
  }
  return tokens;
}

void check_shape(const FeatureShape& shape, const TransformerConfig& target,
                 const std::string& where) {
  const auto refuse = [&](const std::string& what) { throw DataError("{}: {}", where, what); };
  const bool block = shape.kind == FeatureKind::dflash;
  if ((shape.kind == FeatureKind::eagle3 || block) == shape.taps.empty())
    refuse("heads of EAGLE-3 and DFlash name the layers that they read, and no others do");
  if (block && (shape.block < 2 || shape.layers < 1))
    refuse("a block has at least 2 rows and 1 layer, not " + std::to_string(shape.block) + " and " +
           std::to_string(shape.layers));
  if (block && (shape.mask < 0 || shape.mask >= target.vocab_size))
    refuse("its mask is token " + std::to_string(shape.mask) +
           ", outside the target's vocabulary of " + std::to_string(target.vocab_size));
  for (const std::int64_t layer : shape.taps)
    if (layer < 0 || layer > target.num_hidden_layers)
      refuse("its head reads the state after layer " + std::to_string(layer) +
             ", and the target has " + std::to_string(target.num_hidden_layers) + " layers");
  Token next = 0;
  for (const Token token : shape.tokens) {
    if (token < next || token >= target.vocab_size)
      refuse("its head knows token " + std::to_string(token) + ", which is not above the one " +
             "before it and inside the target's vocabulary of " +
             std::to_string(target.vocab_size));
    next = token + 1;
  }
}

FeatureHead::FeatureHead(const TransformerConfig& target, FeatureShape made)
    : shape(std::move(made)), net(layer_config(target, shape.layers)) {
  const std::int64_t d = target.hidden_size;
  if (shape.kind == FeatureKind::dflash) {
    fuse = at::zeros({d, static_cast<std::int64_t>(shape.taps.size()) * d});
    state_norm = at::ones({d});
    parameters = {{"fuse.weight", fuse}, {"state_norm.weight", state_norm}};
    if (!shape.tokens.empty()) {
      output = at::zeros({static_cast<std::int64_t>(shape.tokens.size()), d});
      parameters.emplace_back("lm_head.weight", output);
    }
  } else if (shape.kind == FeatureKind::eagle3) {
    TransformerLayer& layer = net.layers.front();
    for (at::Tensor* const wide : {&layer.q, &layer.k, &layer.v})
      *wide = at::zeros({wide->size(0), 2 * d});
    fuse = at::zeros({d, static_cast<std::int64_t>(shape.taps.size()) * d});
    embedding_norm = at::ones({d});
    output_norm = net.norm;
    const std::size_t all =
        shape.tokens.empty() ? static_cast<std::size_t>(target.vocab_size) : shape.tokens.size();
    output = at::zeros({static_cast<std::int64_t>(all), d});
    parameters = {{"fuse.weight", fuse},
                  {"embedding_norm.weight", embedding_norm},
                  {"lm_head.weight", output}};
  } else {
    join = at::zeros({d, 2 * d});
    parameters = {{"fc.weight", join}};
  }
  if (shape.kind == FeatureKind::eagle) {
    join_bias = at::zeros({d});
    parameters.emplace_back("fc.bias", join_bias);
  }
  if (shape.kind == FeatureKind::mtp) {
    embedding_norm = at::ones({d});
    state_norm = at::ones({d});
    parameters.emplace_back("embedding_norm.weight", embedding_norm);
    parameters.emplace_back("state_norm.weight", state_norm);
  }
  constexpr std::string_view kRoom = "model.";
  for (const auto& [name, tensor] : net.named_parameters()) {
    const std::string own = name.substr(kRoom.size());
    if (own.starts_with("layers.") || own == "norm.weight" || own == "encoder.norm.weight")
      parameters.emplace_back(own, tensor);
  }
  if (output_norm.defined()) net.norm = at::Tensor();
  net.embed_tokens = net.lm_head = at::Tensor();
  net.encoder.clear();
}

FeatureHead FeatureHead::random(const Transformer& target, FeatureShape shape, std::uint64_t seed,
                                double spread) {
  const at::NoGradGuard no_grad;
  FeatureHead head(target.config, std::move(shape));
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  for (auto& [name, tensor] : head.parameters)
    if (tensor.dim() > 1) tensor.normal_(0, spread, generator);
  (head.output_norm.defined() ? head.output_norm : head.net.norm).copy_(target.norm);
  if (head.output.defined())
    head.output.copy_(head.shape.tokens.empty()
                          ? target.lm_head
                          : target.lm_head.index_select(0, ids_of(head.shape.tokens)));
  return head;
}

std::string FeatureHead::digest(const std::string& folder) {
  return is_own(folder) ? SafetensorsFile(file_in(folder)).digest() : weights_digest(folder);
}

FeatureHead FeatureHead::load(const std::string& folder, const TransformerConfig& target,
                              const std::string& base) {
  const at::NoGradGuard no_grad;
  if (!is_own(folder)) return load_speculator(folder, target);
  Weights weights({file_in(folder)});
  const auto made_for = weights.metadata().find("base");
  if (made_for == weights.metadata().end())
    throw DataError("{}: does not say its 'base': it holds no feature head", file_in(folder));
  if (made_for->second != base) {
    throw DataError("{}: its head was made for a base whose weights have digest {}, not {}",
                    file_in(folder), made_for->second, base);
  }
  FeatureShape shape = stated_shape(weights);
  shape.tokens = tokens_at(weights.take_integers("d2t"));
  check_shape(shape, target, file_in(folder));
  FeatureHead head(target, std::move(shape));
  for (auto& [name, tensor] : head.parameters)
    tensor.copy_(weights.take(name, tensor.sizes().vec(), at::kFloat));
  weights.expect_all_taken();
  return head;
}

void FeatureHead::save(const std::string& folder, bool bf16, const std::string& base) const {
  make_folder(folder);
  auto stored = parameters;
  if (!shape.tokens.empty()) {
    at::Tensor offsets = ids_of(shape.tokens);
    for (std::int64_t row = 0; row < offsets.numel(); ++row)
      offsets.data_ptr<std::int64_t>()[row] -= row;
    stored.emplace_back("d2t", offsets);
  }
  std::map<std::string, std::string> said{{"base", base}, {"kind", std::string(word(shape.kind))}};
  if (!shape.taps.empty()) said["layers"] = joined_text(shape.taps);
  if (shape.kind == FeatureKind::dflash) {
    said["depth"] = std::to_string(shape.layers);
    said["block"] = std::to_string(shape.block);
    said["mask"] = std::to_string(shape.mask);
  }
  write_weights(file_in(folder), stored, bf16, said);
}

std::int64_t FeatureHead::read_width() const {
  return net.config.hidden_size *
         std::max<std::int64_t>(1, static_cast<std::int64_t>(shape.taps.size()));
}

at::Tensor FeatureHead::fused(const at::Tensor& read, bool bf16) const {
  if (!fuse.defined()) return read;
  return at::linear(cast(read, bf16), cast(fuse, bf16)).to(at::kFloat);
}

FeatureHead::Input FeatureHead::joined(const at::Tensor& embedded, const at::Tensor& state,
                                       bool bf16) const {
  const double epsilon = net.config.rms_norm_eps;
  const at::Tensor own = rms_norm(embedded, embedding_norm, epsilon, at::kFloat),
                   before = rms_norm(state, state_norm, epsilon, at::kFloat);
  if (!join.defined()) return {before, own};
  return {at::linear(cast(at::cat({own, before}, -1), bf16), cast(join, bf16),
                     join_bias.defined() ? cast(join_bias, bf16) : join_bias)
              .to(at::kFloat),
          {}};
}

at::Tensor FeatureHead::logits(const at::Tensor& states, const at::Tensor& projection) const {
  const at::Tensor normed = rms_norm(states, output_norm, net.config.rms_norm_eps, at::kFloat);
  return output.defined() ? at::linear(normed, output) : known(at::linear(normed, projection));
}

at::Tensor FeatureHead::known(const at::Tensor& values) const {
  return shape.tokens.empty() ? values : values.index_select(-1, ids_of(shape.tokens));
}

}  // namespace draftlab
