// MAR, the masked autoregressive model of vector tokens (Li et al., 2024): weights and files in its
// tensor names, and the full forwards in plain operations, differentiable. mar_rows_torch.h
// computes it for decoding.
//
// Bidirectional, as published: an encoder over the visible tokens, a decoder over all positions.
// Causal (not published in code): the decoder alone, over the class and the tokens in raster order,
// whose row i tells token i.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/models/checkpoint/weight_maker_torch.h"
#include "plugins/models/mar/diffusion_head_torch.h"
#include "plugins/models/mar/diffusion_schedule.h"

namespace draftlab {

// config.json: the constructor's arguments by MAR's names; `causal`, `prediction` and `variance`
// are ours.
struct MarConfig {
  std::int64_t img_size = 256, vae_stride = 16, patch_size = 1, vae_embed_dim = 16;
  std::int64_t encoder_embed_dim = 1024, encoder_depth = 16,
               encoder_num_heads = 16;  // unused where causal
  std::int64_t decoder_embed_dim = 1024, decoder_depth = 16, decoder_num_heads = 16;
  std::int64_t mlp_ratio = 4, class_num = 1000, buffer_size = 64;
  std::int64_t diffloss_d = 3, diffloss_w = 1024;
  std::string num_sampling_steps = "100";  // spacing of the reverse steps
  double norm_eps = 1e-6;
  bool causal = false;
  Prediction prediction = Prediction::epsilon;
  Variance variance = Variance::learned;

  std::int64_t side() const { return img_size / vae_stride / patch_size; }  // of the grid of tokens
  std::int64_t tokens() const { return side() * side(); }                   // L
  std::int64_t dimension() const { return vae_embed_dim * patch_size * patch_size; }  // D
  std::int64_t outputs() const {
    return variance == Variance::learned ? 2 * dimension() : dimension();
  }

  void check(const std::string& where) const;  // DataError names the rule that is broken
  static MarConfig read(const std::string& folder);
  void write(const std::string& folder) const;
};

// A pre-norm block of a vision transformer.
struct MarBlock {
  LayerNorm norm1;
  Linear qkv, proj;
  LayerNorm norm2;
  Linear fc1, fc2;
};

struct Mar {
  MarConfig config;
  NamedTensors named_parameters;  // handles that share storage with the fields
  at::Tensor class_emb;           // [classes, d]
  at::Tensor fake_latent;         // [1, d]: no class
  Linear z_proj;                  // [d, D]
  LayerNorm z_proj_ln;
  at::Tensor encoder_positions;  // [1, buffers + L, d]; undefined where causal, as the next three
  std::vector<MarBlock> encoder;
  LayerNorm encoder_norm;
  Linear decoder_embed;          // [decoder's d, d]
  at::Tensor mask_token;         // [1, 1, d]; undefined where causal
  at::Tensor decoder_positions;  // [1, buffers + L, d]; where causal one less, for the last token
                                 // is nobody's context
  std::vector<MarBlock> decoder;
  LayerNorm decoder_norm;
  at::Tensor diffusion_positions;  // [1, L, d]
  DiffusionHead head;

  Mar(const MarConfig& config, const MakeTensor& make);
  // FOLDER/config.json and FOLDER/model.safetensors as `type`. DataError names a missing, extra or
  // misshapen tensor.
  static Mar load(const std::string& folder, at::ScalarType type = at::kFloat);
  // Both files, each written whole or not at all; `bf16`: halves the size.
  void save(const std::string& folder, bool bf16) const;

  // Labels [B] int64, class_num for none: [B, d].
  at::Tensor classes(const at::Tensor& labels) const;
  // Of the visible tokens [B, V, D] at places [B, V] (int64, 0..L-1): [B, buffers + V, d].
  at::Tensor encode(const at::Tensor& tokens, const at::Tensor& places, const at::Tensor& labels,
                    bool bf16 = false) const;
  // The conditions z of all positions, [B, L, d].
  at::Tensor decode(const at::Tensor& encoded, const at::Tensor& places, bool bf16 = false) const;
  // The same of the causal variant, of all tokens [B, L, D] at once (teacher forcing).
  at::Tensor causal(const at::Tensor& tokens, const at::Tensor& labels, bool bf16 = false) const;
};

}  // namespace draftlab
