// The weights of an RWKV model, layer by layer, packed for products.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/models/nn/kernels/rows/panels.h"

namespace draftlab {

enum class RwkvVersion : std::uint8_t { v5_2, v7 };

// A product with weights [out, in]. What a row gets is, to the last bit, what it gets alone.
class RwkvProduct {
 public:
  RwkvProduct() = default;
  RwkvProduct(const std::vector<float>& weights, std::int64_t out, std::int64_t in);
  std::int64_t out() const { return out_; }
  // Multiplies x [rows, in] into y [rows, out].
  void apply(const float* x, std::int64_t rows, float* y) const;

 private:
  Panels panels_{1};
  std::int64_t out_ = 0, in_ = 0;
};

struct RwkvNorm {
  std::vector<float> weight, bias;
};

// Vectors have the model's width; those of heads lie head after head.
struct RwkvLayer {
  RwkvNorm ln1, ln2, ln_x;
  RwkvProduct receptance, key, value, output, ffn_key, ffn_value;
  // Version 5.2. The mixes are shares of the row itself; what is left is of the row before.
  std::vector<float> mix_k, mix_v, mix_r, mix_g, decay, bonus, ffn_mix_k, ffn_mix_r;
  RwkvProduct gate, ffn_receptance;
  // Version 7. The mixes are shares of the row before, in the order r, w, k, v, a, g. Matrices 1
  // lead to few numbers, and matrices 2 back.
  std::vector<float> mixes, w0, a0, v0, k_k, k_a, r_k, ffn_x_k;
  RwkvProduct w1, w2, a1, a2, v1, v2, g1, g2;
};

struct RwkvWeights {
  RwkvVersion version = RwkvVersion::v7;
  std::int64_t vocabulary = 0, width = 0, heads = 0, inner = 0, parameters = 0;
  std::string digest;
  std::vector<float> embedding;
  RwkvNorm ln0, ln_out;
  std::vector<RwkvLayer> layers;
  RwkvProduct head;
  // The numbers of a head.
  std::int64_t head_size() const { return width / heads; }
};

// Throws DataError where the file is of another version, lacks a tensor, has one that the version
// does not know, or one of another size.
RwkvWeights read_rwkv(const std::string& path);

}  // namespace draftlab
