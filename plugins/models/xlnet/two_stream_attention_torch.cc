#include "plugins/models/xlnet/two_stream_attention_torch.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "plugins/models/nn/kernels/rows/lanes.h"

namespace draftlab {

namespace {

// Turns one row of scores into one row of probabilities. `content` and `relative` are the two
// products of the row.
template <class T>
DRAFTLAB_INLINE void soften(const T* content, const T* relative, const std::int32_t* rank,
                            std::int32_t limit, float scale, int n, float* row, T* out) {
  float top = -3e38f, sum = 0;
#pragma omp simd reduction(max : top)
  for (int j = 0; j < n; j++) {
    const float score = rank[j] < limit ? (widen(content[j]) + widen(relative[j])) * scale : -3e38f;
    row[j] = score;
    top = std::max(top, score);
  }
#pragma omp simd reduction(+ : sum)
  for (int j = 0; j < n; j++) {
    const float e = rank[j] < limit ? exponential(row[j] - top) : 0.0f;
    row[j] = e;
    sum += e;
  }
  const float share = 1 / sum;
#pragma omp simd
  for (int j = 0; j < n; j++) narrow(row[j] * share, out[j]);
}

// Computes the gradient of the scores from that of the probabilities. It goes to both products.
template <class T>
DRAFTLAB_INLINE void harden(const T* probability, const T* gradient, float scale, int n, T* content,
                            T* relative) {
  float dot = 0;
#pragma omp simd reduction(+ : dot)
  for (int j = 0; j < n; j++) dot += widen(probability[j]) * widen(gradient[j]);
#pragma omp simd
  for (int j = 0; j < n; j++) {
    T value;
    narrow(widen(probability[j]) * (widen(gradient[j]) - dot) * scale, value);
    content[j] = value;
    relative[j] = value;
  }
}

// Rows [first, last) of [H, B, R]; `length` is L.
struct Shape {
  int batch, rows, length;
  float scale;
};

template <class T>
DRAFTLAB_INLINE void soften_rows(std::int64_t first, std::int64_t last, const Shape& s,
                                 const T* content, const T* relative, const std::int32_t* rank,
                                 const std::int32_t* limit, T* out) {
  std::vector<float> row(s.length);
  for (std::int64_t at = first; at < last; at++) {
    const std::int64_t r = at % s.rows, b = at / s.rows % s.batch,
                       shift = s.length - 1 - r % s.length;
    soften(content + at * s.length, relative + at * (2 * s.length - 1) + shift, rank + b * s.length,
           limit[b * s.rows + r], s.scale, s.length, row.data(), out + at * s.length);
  }
}
template <class T>
DRAFTLAB_INLINE void harden_rows(std::int64_t first, std::int64_t last, const Shape& s,
                                 const T* probability, const T* gradient, T* content, T* relative) {
  const int width = 2 * s.length - 1;
  for (std::int64_t at = first; at < last; at++) {
    const std::int64_t shift = s.length - 1 - at % s.rows % s.length;
    T* wide = relative + at * width;
    std::fill(wide, wide + shift, T{});
    std::fill(wide + shift + s.length, wide + width, T{});
    harden(probability + at * s.length, gradient + at * s.length, s.scale, s.length,
           content + at * s.length, wide + shift);
  }
}

void soften_f32(std::int64_t first, std::int64_t last, const Shape& s, const float* content,
                const float* relative, const std::int32_t* rank, const std::int32_t* limit,
                float* out) {
  on_widest([&] { soften_rows(first, last, s, content, relative, rank, limit, out); });
}
void soften_bf16(std::int64_t first, std::int64_t last, const Shape& s,
                 const std::uint16_t* content, const std::uint16_t* relative,
                 const std::int32_t* rank, const std::int32_t* limit, std::uint16_t* out) {
  on_widest([&] { soften_rows(first, last, s, content, relative, rank, limit, out); });
}
void harden_f32(std::int64_t first, std::int64_t last, const Shape& s, const float* probability,
                const float* gradient, float* content, float* relative) {
  on_widest([&] { harden_rows(first, last, s, probability, gradient, content, relative); });
}
void harden_bf16(std::int64_t first, std::int64_t last, const Shape& s,
                 const std::uint16_t* probability, const std::uint16_t* gradient,
                 std::uint16_t* content, std::uint16_t* relative) {
  on_widest([&] { harden_rows(first, last, s, probability, gradient, content, relative); });
}

bool is_bf16(const at::Tensor& tensor) { return tensor.scalar_type() == at::kBFloat16; }
std::uint16_t* bits(const at::Tensor& tensor) {
  return static_cast<std::uint16_t*>(tensor.data_ptr());
}
// Maps [H, B, ...] to [H B, ...].
at::Tensor flat(const at::Tensor& tensor) { return tensor.flatten(0, 1); }

Shape shape_of(const at::Tensor& q, const at::Tensor& k) {
  return {static_cast<int>(q.size(1)), static_cast<int>(q.size(2)), static_cast<int>(k.size(2)),
          1 / std::sqrt(static_cast<float>(q.size(3)))};
}
// A thread takes so many rows at a time.
constexpr std::int64_t kGrain = 64;

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct TwoStreamAttention : torch::autograd::Function<TwoStreamAttention> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& qw, const at::Tensor& qr,
                            const at::Tensor& k, const at::Tensor& v, const at::Tensor& r,
                            const at::Tensor& rank, const at::Tensor& limit) {
    const Shape s = shape_of(qw, k);
    const std::int64_t rows = qw.size(0) * s.batch * s.rows;
    const at::Tensor content = at::bmm(flat(qw), flat(k).transpose(1, 2));
    const at::Tensor relative = at::bmm(qr.flatten(1, 2), r.transpose(1, 2));
    const at::Tensor probability = at::empty_like(content);
    at::parallel_for(0, rows, kGrain, [&](std::int64_t first, std::int64_t last) {
      const auto *ranks = rank.data_ptr<std::int32_t>(), *limits = limit.data_ptr<std::int32_t>();
      if (is_bf16(qw))
        soften_bf16(first, last, s, bits(content), bits(relative), ranks, limits,
                    bits(probability));
      else
        soften_f32(first, last, s, content.data_ptr<float>(), relative.data_ptr<float>(), ranks,
                   limits, probability.data_ptr<float>());
    });
    context->save_for_backward({qw, qr, k, v, r, probability});
    return at::bmm(probability, flat(v)).view(qw.sizes());
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &qw = saved[0], &qr = saved[1], &k = saved[2], &v = saved[3], &r = saved[4],
                     &probability = saved[5];
    const Shape s = shape_of(qw, k);
    const std::int64_t heads = qw.size(0), rows = heads * s.batch * s.rows;
    const at::Tensor out = flat(gradients[0].contiguous());
    const at::Tensor d_probability = at::bmm(out, flat(v).transpose(1, 2));
    const at::Tensor content = at::empty_like(probability);
    const at::Tensor relative =
        at::empty({heads, static_cast<std::int64_t>(s.batch) * s.rows, 2 * s.length - 1},
                  probability.options());
    at::parallel_for(0, rows, kGrain, [&](std::int64_t first, std::int64_t last) {
      if (is_bf16(qw))
        harden_bf16(first, last, s, bits(probability), bits(d_probability), bits(content),
                    bits(relative));
      else
        harden_f32(first, last, s, probability.data_ptr<float>(), d_probability.data_ptr<float>(),
                   content.data_ptr<float>(), relative.data_ptr<float>());
    });
    return {at::bmm(content, flat(k)).view(qw.sizes()),
            at::bmm(relative, r).view(qr.sizes()),
            at::bmm(content.transpose(1, 2), flat(qw)).view(k.sizes()),
            at::bmm(probability.transpose(1, 2), out).view(v.sizes()),
            at::bmm(relative.transpose(1, 2), qr.flatten(1, 2)),
            {},
            {}};
  }
};

}  // namespace

at::Tensor two_stream_attention(const at::Tensor& qw, const at::Tensor& qr, const at::Tensor& k,
                                const at::Tensor& v, const at::Tensor& r, const at::Tensor& rank,
                                const at::Tensor& limit) {
  return TwoStreamAttention::apply(qw, qr, k, v, r, rank, limit);
}

}  // namespace draftlab
