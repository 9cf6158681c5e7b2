// Computes y = x W^T + b for a handful of rows or a few hundred, on whatever the machine multiplies
// fastest with.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/models/nn/kernels/rows/precision.h"
#include "plugins/models/nn/kernels/rows/row_kernels.h"

namespace draftlab {

// Weights that are packed once. Where the processor multiplies bf16 (bf16_products.h), bf16 means
// that both factors are bf16 and sums f32; elsewhere x stays f32. In q8 and q4 both factors are
// whole numbers (quantised_products.h). A row's result is, bit for bit, what it is without the
// other rows.
class RowLinear {
 public:
  RowLinear() = default;
  // The weight is [out, in]; the bias is [out] or undefined.
  RowLinear(const at::Tensor& weight, const at::Tensor& bias, Precision precision);
  // Multiplies x [rows, in] into y [rows, out], in parallel over outputs.
  void apply(const float* x, std::int64_t rows, float* y) const;
  // Copies the weights of one output, [in], as they are kept; a tied embedding is read from here.
  void weights_of(std::int64_t output, float* weights) const;

 private:
  void pack(const at::Tensor& weight, Precision precision);
  void quantise(const at::Tensor& weight, Layout layout);
  at::Tensor panels_, bias_;
  PackedView view_;
};

// The embeddings of tokens. Where the embedding and the head are the same tensor, the head's
// weights serve, unless they are rounded to whole numbers.
class RowEmbedding {
 public:
  RowEmbedding() = default;
  // The embedding is [V, d], or undefined where no token is embedded.
  RowEmbedding(const at::Tensor& embedding, const at::Tensor& head, Precision precision);
  // Writes the embedding of a token, [d].
  void write(std::int64_t token, const RowLinear& head, float* x) const;

 private:
  at::Tensor weights_;
};

// Returns the numbers of a tensor; none where it is undefined.
std::vector<float> floats(const at::Tensor& tensor);

// Returns memory that is not initialised, because a forward writes before it reads.
inline std::unique_ptr<float[]> room(std::int64_t count) {
  return std::unique_ptr<float[]>(new float[count]);
}

// The layout of cached keys and values: tiles where weights are bf16 and the processor has tiles,
// f32 elsewhere.
Layout memory_layout(Precision precision);

}  // namespace draftlab
