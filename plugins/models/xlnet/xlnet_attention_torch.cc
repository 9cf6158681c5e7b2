#include "plugins/models/xlnet/xlnet_attention_torch.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include <bit>
#include <span>
#include <vector>

#include "plugins/models/nn/kernels/rows/instructions.h"
#include "plugins/models/nn/kernels/softmax_row.h"

namespace draftlab {
namespace {

using at::BFloat16;

void widen(const std::uint16_t* from, float* to, std::int64_t length) {
  on_widest([&] {
    for (std::int64_t j = 0; j < length; ++j)
      to[j] = std::bit_cast<float>(static_cast<std::uint32_t>(from[j]) << 16);
  });
}

// This rounds to nearest even.
void narrow(const float* from, std::uint16_t* to, std::int64_t length) {
  on_widest([&] {
    for (std::int64_t j = 0; j < length; ++j) {
      const std::uint32_t bits = std::bit_cast<std::uint32_t>(from[j]);
      to[j] = static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
    }
  });
}

// Returns the row as floats: itself, or widened into `buffer`.
const float* floats(const float* row, float*, std::int64_t) { return row; }
const float* floats(const BFloat16* row, float* buffer, std::int64_t length) {
  widen(reinterpret_cast<const std::uint16_t*>(row), buffer, length);
  return buffer;
}
void store(const float* from, float* to, std::int64_t length) {
  std::copy(from, from + length, to);
}
void store(const float* from, BFloat16* to, std::int64_t length) {
  narrow(from, reinterpret_cast<std::uint16_t*>(to), length);
}

// Computes scale * p * (dp - sum(p * dp)), the gradient of the scaled scores.
void softmax_backward_row(const float* p, const float* dp, float scale, std::span<float> row) {
  on_widest([&] {
    float* const out = row.data();
    const auto length = static_cast<std::int64_t>(row.size());
    float dot = 0;
#pragma omp simd reduction(+ : dot)
    for (std::int64_t j = 0; j < length; ++j) dot += p[j] * dp[j];
    for (std::int64_t j = 0; j < length; ++j) out[j] = scale * p[j] * (dp[j] - dot);
  });
}

// The scores of a row before they are scaled, and which keys it may not attend.
struct ScoreRow {
  const float *content, *relative;
  const bool* blocked;
};

// Computes scale * (content + relative), minus 1e30 where blocked.
void score_row(const ScoreRow& scores, float scale, std::span<float> row) {
  on_widest([&] {
    const auto [content, relative, blocked] = scores;
    float* const out = row.data();
    for (std::size_t j = 0; j < row.size(); ++j)
      out[j] = scale * (content[j] + relative[j]) - (blocked[j] ? 1e30f : 0.f);
  });
}

struct ContentShape {
  std::int64_t batch, heads, rows, length;
  explicit ContentShape(const at::Tensor& content)
      : batch(content.size(0)),
        heads(content.size(1)),
        rows(content.size(2)),
        length(content.size(3)) {}
  std::int64_t all() const { return batch * heads * rows; }
  // For a flat [B, H, R] index: where its relative row lies in [H, B, R], and which [B, R] it is.
  std::int64_t relative(std::int64_t flat) const {
    const std::int64_t b = flat / (heads * rows), h = flat / rows % heads;
    return (h * batch + b) * rows + flat % rows;
  }
  std::int64_t row(std::int64_t flat) const { return flat / (heads * rows) * rows + flat % rows; }
};

template <class T>
at::Tensor forward_rows(const RelativeScores& scores, const at::Tensor& positions,
                        const at::Tensor& blocked) {
  const auto& [content, relative, whole_scale] = scores;
  const auto scale = static_cast<float>(whole_scale);
  const ContentShape shape(content);
  const std::int64_t length = shape.length, width = 2 * length;
  at::Tensor weights = at::empty(content.sizes(), content.options());
  const T *ac = content.data_ptr<T>(), *bd = relative.data_ptr<T>();
  const std::int64_t* position = positions.data_ptr<std::int64_t>();
  const bool* mask = blocked.data_ptr<bool>();
  T* out = weights.data_ptr<T>();
  at::parallel_for(0, shape.all(), 16, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> row(length), first(length), second(length);
    for (std::int64_t i = begin; i < end; ++i) {
      const T* shifted = bd + shape.relative(i) * width + length - 1 - position[shape.row(i)];
      score_row({floats(ac + i * length, first.data(), length),
                 floats(shifted, second.data(), length), mask + shape.row(i) * length},
                scale, row);
      normalise_row(row.data(), length);
      store(row.data(), out + i * length, length);
    }
  });
  return weights;
}

// Writes the gradient of the scores, which have their scale.
template <class T>
void backward_rows(const at::Tensor& weights, const at::Tensor& gradient,
                   const at::Tensor& positions, const RelativeScores& scores) {
  const auto& [content, relative, whole_scale] = scores;
  const auto scale = static_cast<float>(whole_scale);
  const ContentShape shape(weights);
  const std::int64_t length = shape.length, width = 2 * length;
  const T *p = weights.data_ptr<T>(), *dp = gradient.data_ptr<T>();
  const std::int64_t* position = positions.data_ptr<std::int64_t>();
  T *ac = content.data_ptr<T>(), *bd = relative.data_ptr<T>();
  at::parallel_for(0, shape.all(), 16, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> row(length), first(length), second(length);
    for (std::int64_t i = begin; i < end; ++i) {
      softmax_backward_row(floats(p + i * length, first.data(), length),
                           floats(dp + i * length, second.data(), length), scale, row);
      store(row.data(), ac + i * length, length);
      T* shifted = bd + shape.relative(i) * width;
      const std::int64_t at = length - 1 - position[shape.row(i)];
      std::fill(shifted, shifted + at, T(0));
      std::copy(ac + i * length, ac + (i + 1) * length, shifted + at);
      std::fill(shifted + at + length, shifted + width, T(0));
    }
  });
}

struct RelativeSoftmax : torch::autograd::Function<RelativeSoftmax> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& content,
                            const at::Tensor& relative, const at::Tensor& positions,
                            const at::Tensor& blocked, double scale) {
    const RelativeScores scores{content, relative, scale};
    at::Tensor weights = content.scalar_type() == at::kBFloat16
                             ? forward_rows<BFloat16>(scores, positions, blocked)
                             : forward_rows<float>(scores, positions, blocked);
    context->save_for_backward({weights, positions});
    context->saved_data["scale"] = scale;
    return weights;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &weights = saved[0], &positions = saved[1];
    const ContentShape shape(weights);
    const RelativeScores scores{
        at::empty(weights.sizes(), weights.options()),
        at::empty({shape.heads, shape.batch, shape.rows, 2 * shape.length}, weights.options()),
        context->saved_data["scale"].toDouble()};
    const at::Tensor gradient = gradients[0].contiguous();
    if (weights.scalar_type() == at::kBFloat16)
      backward_rows<BFloat16>(weights, gradient, positions, scores);
    else
      backward_rows<float>(weights, gradient, positions, scores);
    return {scores.content, scores.relative, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor relative_softmax(const RelativeScores& scores, const at::Tensor& positions,
                            const at::Tensor& blocked) {
  return RelativeSoftmax::apply(scores.content.contiguous(), scores.relative.contiguous(),
                                positions.contiguous(), blocked.contiguous(), scores.scale);
}

}  // namespace draftlab
