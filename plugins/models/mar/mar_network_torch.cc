#include "plugins/models/mar/mar_network_torch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/words.h"
#include "plugins/models/nn/checkpoint/config_file.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"

namespace draftlab {
namespace {

constexpr std::int64_t kWidest = 1 << 20;

}  // namespace

MarBlock::MarBlock(const WeightMaker& make, const std::string& name, const Shape& shape)
    : norm1(make, name + "norm1", shape.width),
      qkv(make, name + "attn.qkv", {shape.width, 3 * shape.width}),
      proj(make, name + "attn.proj", {shape.width, shape.width}),
      norm2(make, name + "norm2", shape.width),
      fc1(make, name + "mlp.fc1", {shape.width, shape.inner}),
      fc2(make, name + "mlp.fc2", {shape.inner, shape.width}),
      heads(shape.heads) {}

at::Tensor MarBlock::operator()(const at::Tensor& x, const at::Tensor& blocked, double epsilon,
                                bool bf16) const {
  const std::int64_t batch = x.size(0), rows = x.size(1), d = x.size(2);
  const at::Tensor all = qkv(norm1(x, epsilon), bf16)
                             .view({batch, rows, 3, heads, d / heads})
                             .permute({2, 0, 3, 1, 4});
  at::Tensor scores =
      at::matmul(all[0] / std::sqrt(static_cast<double>(d / heads)), all[1].transpose(2, 3));
  if (blocked.defined())
    scores = scores.masked_fill(blocked, -std::numeric_limits<float>::infinity());
  const at::Tensor y =
      x +
      proj(at::matmul(scores.softmax(-1), all[2]).transpose(1, 2).reshape({batch, rows, d}), bf16);
  return y + fc2(at::gelu(fc1(norm2(y, epsilon), bf16)), bf16);
}

void MarConfig::check(const std::string& where) const {
  const auto rule = [&](bool holds, const std::string& sentence) {
    if (!holds) throw DataError("{}: {}", where, sentence);
  };
  rule(img_size % (vae_stride * patch_size) == 0,
       "'img_size' is " + std::to_string(img_size) +
           ", no multiple of 'vae_stride' times 'patch_size'");
  rule(causal || encoder_embed_dim % encoder_num_heads == 0,
       "'encoder_embed_dim' is no multiple of 'encoder_num_heads'");
  rule(decoder_embed_dim % decoder_num_heads == 0,
       "'decoder_embed_dim' is no multiple of 'decoder_num_heads'");
  rule(norm_eps > 0, "'norm_eps' must be positive");
  spaced_timesteps(kDiffusionSteps, num_sampling_steps);
}

MarConfig MarConfig::read(const std::string& folder) {
  const ConfigFile file = ConfigFile::in(folder);
  file.require_family("mar");
  MarConfig config;
  const auto size = [&](const char* key, std::int64_t low, std::int64_t high, std::int64_t& field) {
    field = file.integer(key, low, high, field);
  };
  config.causal = file.value<bool>("causal", false);
  size("img_size", 1, kWidest, config.img_size);
  size("vae_stride", 1, kWidest, config.vae_stride);
  size("patch_size", 1, 1024, config.patch_size);
  size("vae_embed_dim", 1, 4096, config.vae_embed_dim);
  if (!config.causal) {
    size("encoder_embed_dim", 1, kWidest, config.encoder_embed_dim);
    size("encoder_depth", 0, 1024, config.encoder_depth);
    size("encoder_num_heads", 1, 4096, config.encoder_num_heads);
  }
  size("decoder_embed_dim", 1, kWidest, config.decoder_embed_dim);
  size("decoder_depth", 0, 1024, config.decoder_depth);
  size("decoder_num_heads", 1, 4096, config.decoder_num_heads);
  size("mlp_ratio", 1, 64, config.mlp_ratio);
  size("class_num", 1, kWidest, config.class_num);
  size("buffer_size", 1, 4096, config.buffer_size);
  size("diffloss_d", 0, 1024, config.diffloss_d);
  size("diffloss_w", 1, kWidest, config.diffloss_w);
  config.num_sampling_steps =
      file.value<std::string>("num_sampling_steps", config.num_sampling_steps);
  config.norm_eps = file.value<double>("norm_eps", config.norm_eps);
  config.prediction = prediction_of(file.value<std::string>("prediction", "epsilon"));
  config.variance = variance_of(file.value<std::string>("variance", "learned"));
  config.check(file.path());
  return config;
}

void MarConfig::write(const std::string& folder) const {
  Json json{{"model_type", "mar"},
            {"norm_eps", norm_eps},
            {"img_size", img_size},
            {"vae_stride", vae_stride},
            {"patch_size", patch_size},
            {"vae_embed_dim", vae_embed_dim},
            {"decoder_embed_dim", decoder_embed_dim},
            {"decoder_depth", decoder_depth},
            {"decoder_num_heads", decoder_num_heads},
            {"mlp_ratio", mlp_ratio},
            {"class_num", class_num},
            {"buffer_size", buffer_size},
            {"diffloss_d", diffloss_d},
            {"diffloss_w", diffloss_w},
            {"num_sampling_steps", num_sampling_steps},
            {"causal", causal},
            {"prediction", word(prediction)},
            {"variance", word(variance)}};
  if (!causal)
    json.update({{"encoder_embed_dim", encoder_embed_dim},
                 {"encoder_depth", encoder_depth},
                 {"encoder_num_heads", encoder_num_heads}});
  write_whole(folder + "/config.json", json.dump(2) + "\n");
}

Mar::Mar(const MarConfig& config, const MakeTensor& make_tensor) : config(config) {
  const WeightMaker make{make_tensor, named_parameters};
  const std::int64_t wide = config.decoder_embed_dim,
                     d = config.causal ? wide : config.encoder_embed_dim,
                     places = config.buffer_size + config.tokens();
  class_emb = make("class_emb.weight", {config.class_num, d}, Start::embedding);
  fake_latent = make("fake_latent", {1, d}, Start::embedding);
  const auto make_blocks = [&](std::vector<MarBlock>& blocks, const std::string& name,
                               std::int64_t depth, const MarBlock::Shape& shape) {
    for (std::int64_t i = 0; i < depth; ++i)
      blocks.emplace_back(make, name + std::to_string(i) + ".", shape);
  };
  z_proj = Linear(make, "z_proj", {config.dimension(), d});
  z_proj_ln = LayerNorm(make, "z_proj_ln", d);
  if (!config.causal) {
    encoder_positions = make("encoder_pos_embed_learned", {1, places, d}, Start::embedding);
    make_blocks(encoder, "encoder_blocks.", config.encoder_depth,
                {d, config.encoder_num_heads, config.mlp_ratio * d});
    encoder_norm = LayerNorm(make, "encoder_norm", d);
    decoder_embed = Linear(make, "decoder_embed", {d, wide});
    mask_token = make("mask_token", {1, 1, wide}, Start::embedding);
  }
  decoder_positions = make("decoder_pos_embed_learned",
                           {1, config.causal ? places - 1 : places, wide}, Start::embedding);
  make_blocks(decoder, "decoder_blocks.", config.decoder_depth,
              {wide, config.decoder_num_heads, config.mlp_ratio * wide});
  decoder_norm = LayerNorm(make, "decoder_norm", wide);
  diffusion_positions =
      make("diffusion_pos_embed_learned", {1, config.tokens(), wide}, Start::embedding);
  head = DiffusionHead(make, "diffloss.net.",
                       {.dimension = config.dimension(),
                        .outputs = config.outputs(),
                        .condition = wide,
                        .width = config.diffloss_w,
                        .depth = config.diffloss_d});
}

Mar Mar::hollow(const MarConfig& config) {
  return Mar(config, [](const std::string&, const std::vector<std::int64_t>& shape, Start) {
    return at::empty(shape, at::TensorOptions(at::kFloat).device(at::kMeta));
  });
}

Mar Mar::load(const std::string& folder, at::ScalarType type) {
  const MarConfig config = MarConfig::read(folder);
  Weights weights(weight_files(folder));
  const at::NoGradGuard no_grad;
  Mar net(config, [&](const std::string& name, const std::vector<std::int64_t>& shape, Start) {
    return weights.take(name, shape, type);
  });
  weights.expect_all_taken();
  return net;
}

void Mar::save(const std::string& folder, bool bf16) const {
  make_folder(folder);
  write_weights(folder + "/model.safetensors", named_parameters, bf16, {{"format", "pt"}});
  config.write(folder);
}

at::Tensor Mar::classes(const at::Tensor& labels) const {
  return at::embedding(at::cat({class_emb, fake_latent}), labels);
}

at::Tensor Mar::encode(const at::Tensor& tokens, const at::Tensor& places, const at::Tensor& labels,
                       bool bf16) const {
  const std::int64_t batch = tokens.size(0), buffers = config.buffer_size;
  const at::Tensor positions = encoder_positions.squeeze(0);
  const at::Tensor first = classes(labels).unsqueeze(1) + positions.narrow(0, 0, buffers);
  const at::Tensor visible = z_proj(tokens, bf16) + at::embedding(positions, places + buffers);
  at::Tensor x =
      z_proj_ln(at::cat({first.expand({batch, buffers, -1}), visible}, 1), config.norm_eps);
  for (const MarBlock& block : encoder) x = block(x, {}, config.norm_eps, bf16);
  return encoder_norm(x, config.norm_eps);
}

at::Tensor Mar::decode(const at::Tensor& encoded, const at::Tensor& places, bool bf16) const {
  const std::int64_t batch = encoded.size(0), buffers = config.buffer_size,
                     length = config.tokens(), d = config.decoder_embed_dim;
  const at::Tensor embedded = decoder_embed(encoded, bf16);
  const at::Tensor visible = embedded.narrow(1, buffers, places.size(1));
  const at::Tensor grid = mask_token.expand({batch, length, d})
                              .scatter(1, places.unsqueeze(-1).expand({-1, -1, d}), visible);
  at::Tensor x = at::cat({embedded.narrow(1, 0, buffers), grid}, 1) + decoder_positions;
  for (const MarBlock& block : decoder) x = block(x, {}, config.norm_eps, bf16);
  return decoder_norm(x.narrow(1, buffers, length), config.norm_eps) + diffusion_positions;
}

at::Tensor Mar::causal(const at::Tensor& tokens, const at::Tensor& labels, bool bf16) const {
  const std::int64_t batch = tokens.size(0), buffers = config.buffer_size, length = config.tokens(),
                     rows = buffers + length - 1;
  const at::Tensor first = classes(labels).unsqueeze(1).expand({batch, buffers, -1});
  at::Tensor x =
      at::cat({first, z_proj(tokens.narrow(1, 0, length - 1), bf16)}, 1) + decoder_positions;
  const at::Tensor later = at::ones({rows, rows}, at::kBool).triu(1);
  x = z_proj_ln(x, config.norm_eps);
  for (const MarBlock& block : decoder) x = block(x, later, config.norm_eps, bf16);
  return decoder_norm(x.narrow(1, buffers - 1, length), config.norm_eps) + diffusion_positions;
}

}  // namespace draftlab
