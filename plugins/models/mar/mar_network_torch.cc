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
#include "plugins/models/nn/checkpoint/config_json.h"
#include "plugins/models/nn/checkpoint/weights_torch.h"

namespace draftlab {
namespace {

constexpr std::int64_t kWidest = 1 << 20;

MarBlock make_block(const WeightMaker& make, const std::string& name, std::int64_t d,
                    std::int64_t inner) {
  return {LayerNorm(make, name + "norm1", d),       Linear(make, name + "attn.qkv", d, 3 * d),
          Linear(make, name + "attn.proj", d, d),   LayerNorm(make, name + "norm2", d),
          Linear(make, name + "mlp.fc1", d, inner), Linear(make, name + "mlp.fc2", inner, d)};
}

std::vector<MarBlock> make_blocks(const WeightMaker& make, const std::string& name,
                                  std::int64_t depth, std::int64_t d, std::int64_t ratio) {
  std::vector<MarBlock> blocks;
  for (std::int64_t i = 0; i < depth; ++i)
    blocks.push_back(make_block(make, name + std::to_string(i) + ".", d, ratio * d));
  return blocks;
}

// Sends x [B, R, d] through blocks. `blocked` [R, R] is boolean, true where row i does not see row
// j, or undefined.
at::Tensor through(const std::vector<MarBlock>& blocks, std::int64_t heads, double epsilon,
                   at::Tensor x, const at::Tensor& blocked, bool bf16) {
  const std::int64_t batch = x.size(0), rows = x.size(1), d = x.size(2);
  for (const MarBlock& block : blocks) {
    const at::Tensor qkv = block.qkv(block.norm1(x, epsilon), bf16)
                               .view({batch, rows, 3, heads, d / heads})
                               .permute({2, 0, 3, 1, 4});
    at::Tensor scores =
        at::matmul(qkv[0] / std::sqrt(static_cast<double>(d / heads)), qkv[1].transpose(2, 3));
    if (blocked.defined())
      scores = scores.masked_fill(blocked, -std::numeric_limits<float>::infinity());
    x = x +
        block.proj(at::matmul(scores.softmax(-1), qkv[2]).transpose(1, 2).reshape({batch, rows, d}),
                   bf16);
    x = x + block.fc2(at::gelu(block.fc1(block.norm2(x, epsilon), bf16)), bf16);
  }
  return x;
}

}  // namespace

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
  const std::string path = folder + "/config.json";
  const Json json = parsed(path, "a checkpoint is a folder with config.json and model.safetensors");
  const auto family = value<std::string>(json, path, "model_type", "(none)");
  if (family != "mar")
    throw DataError("{}: is a checkpoint of another family, model_type '{}' instead of 'mar'", path,
                    family);
  MarConfig config;
  const auto size = [&](const char* key, std::int64_t low, std::int64_t high, std::int64_t& field) {
    field = integer(json, path, key, low, high, field);
  };
  config.causal = value<bool>(json, path, "causal", false);
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
      value<std::string>(json, path, "num_sampling_steps", config.num_sampling_steps);
  config.norm_eps = value<double>(json, path, "norm_eps", config.norm_eps);
  config.prediction = prediction_of(value<std::string>(json, path, "prediction", "epsilon"));
  config.variance = variance_of(value<std::string>(json, path, "variance", "learned"));
  config.check(path);
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
  z_proj = Linear(make, "z_proj", config.dimension(), d);
  z_proj_ln = LayerNorm(make, "z_proj_ln", d);
  if (!config.causal) {
    encoder_positions = make("encoder_pos_embed_learned", {1, places, d}, Start::embedding);
    encoder = make_blocks(make, "encoder_blocks.", config.encoder_depth, d, config.mlp_ratio);
    encoder_norm = LayerNorm(make, "encoder_norm", d);
    decoder_embed = Linear(make, "decoder_embed", d, wide);
    mask_token = make("mask_token", {1, 1, wide}, Start::embedding);
  }
  decoder_positions = make("decoder_pos_embed_learned",
                           {1, config.causal ? places - 1 : places, wide}, Start::embedding);
  decoder = make_blocks(make, "decoder_blocks.", config.decoder_depth, wide, config.mlp_ratio);
  decoder_norm = LayerNorm(make, "decoder_norm", wide);
  diffusion_positions =
      make("diffusion_pos_embed_learned", {1, config.tokens(), wide}, Start::embedding);
  head = DiffusionHead(make, "diffloss.net.", config.dimension(), config.outputs(), wide,
                       config.diffloss_w, config.diffloss_d);
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
  x = through(encoder, config.encoder_num_heads, config.norm_eps, x, {}, bf16);
  return encoder_norm(x, config.norm_eps);
}

at::Tensor Mar::decode(const at::Tensor& encoded, const at::Tensor& places, bool bf16) const {
  const std::int64_t batch = encoded.size(0), buffers = config.buffer_size,
                     length = config.tokens(), d = config.decoder_embed_dim;
  const at::Tensor embedded = decoder_embed(encoded, bf16);
  const at::Tensor visible = embedded.narrow(1, buffers, places.size(1));
  const at::Tensor grid = mask_token.expand({batch, length, d})
                              .scatter(1, places.unsqueeze(-1).expand({-1, -1, d}), visible);
  const at::Tensor x = at::cat({embedded.narrow(1, 0, buffers), grid}, 1) + decoder_positions;
  const at::Tensor y = through(decoder, config.decoder_num_heads, config.norm_eps, x, {}, bf16)
                           .narrow(1, buffers, length);
  return decoder_norm(y, config.norm_eps) + diffusion_positions;
}

at::Tensor Mar::causal(const at::Tensor& tokens, const at::Tensor& labels, bool bf16) const {
  const std::int64_t batch = tokens.size(0), buffers = config.buffer_size, length = config.tokens(),
                     rows = buffers + length - 1;
  const at::Tensor first = classes(labels).unsqueeze(1).expand({batch, buffers, -1});
  at::Tensor x =
      at::cat({first, z_proj(tokens.narrow(1, 0, length - 1), bf16)}, 1) + decoder_positions;
  const at::Tensor later = at::ones({rows, rows}, at::kBool).triu(1);
  x = through(decoder, config.decoder_num_heads, config.norm_eps, z_proj_ln(x, config.norm_eps),
              later, bf16)
          .narrow(1, buffers - 1, length);
  return decoder_norm(x, config.norm_eps) + diffusion_positions;
}

}  // namespace draftlab
