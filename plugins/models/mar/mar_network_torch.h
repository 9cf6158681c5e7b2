// MAR, the masked autoregressive model of vector tokens (Li et al., 2024): weights and files in its
// tensor names, and the full forwards in plain operations, differentiable. mar_rows_torch.h
// computes it for decoding.
//
// The bidirectional variant is the published one: an encoder over the visible tokens, and a decoder
// over all positions. The causal variant (not published in code) is the decoder alone, over the
// class and the tokens in raster order, whose row i predicts token i.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/models/mar/diffusion_head_torch.h"
#include "plugins/models/mar/diffusion_schedule.h"
#include "plugins/models/nn/checkpoint/weight_maker_torch.h"

namespace draftlab {

// config.json holds the constructor's arguments by MAR's names; `causal`, `prediction` and
// `variance` are additions of this project.
struct MarConfig {
  std::int64_t img_size = 256, vae_stride = 16, patch_size = 1, vae_embed_dim = 16;
  // These three are unused in the causal variant.
  std::int64_t encoder_embed_dim = 1024, encoder_depth = 16, encoder_num_heads = 16;
  std::int64_t decoder_embed_dim = 1024, decoder_depth = 16, decoder_num_heads = 16;
  std::int64_t mlp_ratio = 4, class_num = 1000, buffer_size = 64;
  std::int64_t diffloss_d = 3, diffloss_w = 1024;
  // The spacing of the reverse steps.
  std::string num_sampling_steps = "100";
  double norm_eps = 1e-6;
  bool causal = false;
  Prediction prediction = Prediction::epsilon;
  Variance variance = Variance::learned;

  // The side of the grid of tokens.
  std::int64_t side() const { return img_size / vae_stride / patch_size; }
  // The number of tokens, L.
  std::int64_t tokens() const { return side() * side(); }
  // The dimension of a token, D.
  std::int64_t dimension() const { return vae_embed_dim * patch_size * patch_size; }
  std::int64_t outputs() const {
    return variance == Variance::learned ? 2 * dimension() : dimension();
  }

  // Throws DataError naming the rule that is broken.
  void check(const std::string& where) const;
  static MarConfig read(const std::string& folder);
  void write(const std::string& folder) const;
};

// A pre-norm block of a vision transformer.
struct MarBlock {
  // The width, the number of heads, and the inner width of the feed-forward network.
  struct Shape {
    std::int64_t width, heads, inner;
  };
  LayerNorm norm1;
  Linear qkv, proj;
  LayerNorm norm2;
  Linear fc1, fc2;
  std::int64_t heads;

  MarBlock(const WeightMaker& make, const std::string& name, const Shape& shape);
  // Maps x [B, R, d]. `blocked` [R, R] is boolean, true where row i does not see row j, or
  // undefined.
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& blocked, double epsilon,
                        bool bf16) const;
};

struct Mar {
  MarConfig config;
  // These handles share storage with the fields.
  NamedTensors named_parameters;
  // The shape is [classes, d].
  at::Tensor class_emb;
  // The shape is [1, d]; it stands for no class.
  at::Tensor fake_latent;
  // The shape is [d, D].
  Linear z_proj;
  LayerNorm z_proj_ln;
  // The shape is [1, buffers + L, d]. In the causal variant it is undefined, as are the next three.
  at::Tensor encoder_positions;
  std::vector<MarBlock> encoder;
  LayerNorm encoder_norm;
  // The shape is [decoder's d, d].
  Linear decoder_embed;
  // The shape is [1, 1, d]; undefined in the causal variant.
  at::Tensor mask_token;
  // The shape is [1, buffers + L, d]. In the causal variant it is one position shorter, because
  // nothing is conditioned on the last token.
  at::Tensor decoder_positions;
  std::vector<MarBlock> decoder;
  LayerNorm decoder_norm;
  // The shape is [1, L, d].
  at::Tensor diffusion_positions;
  DiffusionHead head;

  Mar(const MarConfig& config, const MakeTensor& make);
  // Makes a network of names and shapes without memory.
  static Mar hollow(const MarConfig& config);
  // Reads FOLDER/config.json and FOLDER/model.safetensors as `type`. Throws DataError naming a
  // missing, extra or misshapen tensor.
  static Mar load(const std::string& folder, at::ScalarType type = at::kFloat);
  // Writes both files, each whole or not at all. `bf16` halves the size.
  void save(const std::string& folder, bool bf16) const;

  // Maps labels [B] int64, where class_num stands for none, to [B, d].
  at::Tensor classes(const at::Tensor& labels) const;
  // Encodes the visible tokens [B, V, D] at places [B, V] (int64, 0..L-1) as [B, buffers + V, d].
  at::Tensor encode(const at::Tensor& tokens, const at::Tensor& places, const at::Tensor& labels,
                    bool bf16 = false) const;
  // Returns the conditions z of all positions, [B, L, d].
  at::Tensor decode(const at::Tensor& encoded, const at::Tensor& places, bool bf16 = false) const;
  // Returns the same for the causal variant, of all tokens [B, L, D] at once (teacher forcing).
  at::Tensor causal(const at::Tensor& tokens, const at::Tensor& labels, bool bf16 = false) const;
};

}  // namespace draftlab
