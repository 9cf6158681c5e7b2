// A MAR of nine tokens of four dimensions with random weights, in a folder of its own.
#pragma once

#include <ATen/TensorOperators.h>

#include <unistd.h>

#include <filesystem>
#include <string>

#include "plugins/models/mar/mar_network_torch.h"

namespace draftlab {

inline MarConfig small_mar(bool causal) {
  MarConfig config;
  config.img_size = 6;
  config.vae_stride = 1;
  config.patch_size = 2;
  config.vae_embed_dim = 1;
  config.encoder_embed_dim = 8;
  config.encoder_depth = 2;
  config.encoder_num_heads = 2;
  config.decoder_embed_dim = 8;
  config.decoder_depth = 2;
  config.decoder_num_heads = 2;
  config.class_num = 3;
  config.buffer_size = 2;
  config.diffloss_d = 2;
  config.diffloss_w = 12;
  config.num_sampling_steps = "5";
  config.causal = causal;
  config.prediction = Prediction::v;
  config.variance = Variance::beta;
  return config;
}

// All weights are N(0, 0.2) around their start, so that nothing is switched off.
inline MakeTensor lively_weights(std::uint64_t seed) {
  return [make = random_weights(seed)](const std::string& name,
                                       const std::vector<std::int64_t>& shape, Start start) {
    const at::Tensor noise = make(name, shape, Start::embedding) * 10;
    return start == Start::ones ? noise + 1 : noise;
  };
}

struct SmallMar {
  static inline int made = 0;
  std::filesystem::path path =
      std::filesystem::temp_directory_path() /
      ("draftlab-mar-" + std::to_string(::getpid()) + "-" + std::to_string(made++));
  Mar net;
  explicit SmallMar(bool causal = false) : SmallMar(small_mar(causal)) {}
  explicit SmallMar(const MarConfig& config) : net(config, lively_weights(config.causal ? 2 : 1)) {
    net.save(path.string(), false);
  }
  ~SmallMar() { std::filesystem::remove_all(path); }
};

}  // namespace draftlab
