// Widens MAR: encoder, decoder and diffusion head. All norms are LayerNorms, so rows are repeated.
// What a weight is follows from its shape and from its name: a matrix reads the first copy of a row
// and writes all, whatever else is as wide as a row is repeated, and some matrices write several
// rows side by side. Appended blocks project to zero.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros_like.h>

#include <map>

#include "core/base/error.h"
#include "plugins/models/mar/mar_network_torch.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"
#include "plugins/models/widen/families_torch.h"

namespace draftlab {
namespace {

using Shape = std::vector<std::int64_t>;

MarConfig grown_config(MarConfig config, const Growth& growth) {
  config.encoder_embed_dim *= growth.copies;
  config.encoder_num_heads *= growth.copies;
  config.encoder_depth += growth.layers;
  config.decoder_embed_dim *= growth.copies;
  config.decoder_num_heads *= growth.copies;
  config.decoder_depth += growth.layers;
  config.diffloss_w *= growth.copies;
  return config;
}

Mar hollow(const MarConfig& config) {
  return Mar(config, [](const std::string&, const Shape& shape, Start) {
    return at::empty(shape, at::TensorOptions(at::kFloat).device(at::kMeta));
  });
}

// The number of rows that the matrix (or bias) of this name writes side by side.
std::int64_t parts_of(const std::string& name) {
  if (name.find(".attn.qkv.") != std::string::npos) return 3;
  if (name.find("final_layer.adaLN_modulation") != std::string::npos) return 2;
  return name.find("adaLN_modulation") != std::string::npos ? 3 : 1;
}

// Whether this is a table of rows, which nothing multiplies.
bool is_table(const std::string& name) {
  return name == "class_emb.weight" || name == "fake_latent" || name == "mask_token" ||
         name.find("pos_embed") != std::string::npos;
}

at::Tensor grown(const std::string& name, const at::Tensor& from, const Shape& shape) {
  if (is_table(name)) return repeated(from, from.dim() - 1, shape.back());
  const at::Tensor wide = from.dim() == 2 ? padded(from, 1, shape[1]) : from;
  const std::int64_t parts = parts_of(name);
  std::vector<at::Tensor> rows;
  for (const at::Tensor& part : wide.chunk(parts, 0))
    rows.push_back(repeated(part, 0, shape[0] / parts));
  return at::cat(rows);
}

// Returns the tensor that an appended block takes after: that of the last real one.
std::string source_of(const std::string& name, const MarConfig& config, bool& appended) {
  for (const auto& [prefix, depth] :
       {std::pair<std::string, std::int64_t>{"encoder_blocks.", config.encoder_depth},
        {"decoder_blocks.", config.decoder_depth}}) {
    if (name.rfind(prefix, 0) != 0) continue;
    const std::size_t end = name.find('.', prefix.size());
    const std::int64_t block = std::stoll(name.substr(prefix.size(), end - prefix.size()));
    appended = block >= depth;
    return appended ? prefix + std::to_string(depth - 1) + name.substr(end) : name;
  }
  return name;
}

void write_mar(const std::string& folder, const Growth& growth, const std::string& out) {
  const Mar from = Mar::load(folder);
  const std::map<std::string, at::Tensor> weights(from.named_parameters.begin(),
                                                  from.named_parameters.end());
  const Mar to(grown_config(from.config, growth),
               [&](const std::string& name, const Shape& shape, Start) {
                 bool appended = false;
                 const std::string source = source_of(name, from.config, appended);
                 const at::Tensor tensor = grown(name, weights.at(source), shape);
                 const bool adds = name.find(".attn.proj.") != std::string::npos ||
                                   name.find(".mlp.fc2.") != std::string::npos;
                 return appended && adds ? at::zeros_like(tensor) : tensor;
               });
  to.save(out, stored_as_bf16(weight_files(folder).front()));
}

}  // namespace

Widening widen_mar(const std::string& folder) {
  const MarConfig config = MarConfig::read(folder);
  if (config.decoder_depth == 0 || (!config.causal && config.encoder_depth == 0))
    throw DataError(
        "{}/config.json: has a stack without blocks, to which none like them can be appended",
        folder);
  const auto count = [config](const Growth& growth) {
    std::int64_t parameters = 0;
    for (const auto& [name, tensor] : hollow(grown_config(config, growth)).named_parameters)
      parameters += tensor.numel();
    return parameters;
  };
  const std::int64_t inner = config.mlp_ratio * config.decoder_embed_dim;
  return {.parameters = count({1, 0, inner}),
          .inner = inner,
          .inner_is_free = false,
          .count = count,
          .exact = [](const Growth& growth) { return growth.copies == 1; },
          .write = [folder](const Growth& growth,
                            const std::string& out) { write_mar(folder, growth, out); }};
}

}  // namespace draftlab
