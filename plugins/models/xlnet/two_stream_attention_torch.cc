#include "plugins/models/xlnet/two_stream_attention_torch.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "plugins/models/nn/kernels/fused_torch.h"
#include "plugins/models/nn/kernels/rows/lanes.h"
#include "plugins/models/nn/kernels/softmax_row.h"

namespace draftlab {

namespace {

// Rows of [H, B, R]; `length` is L.
struct AttentionShape {
  int batch, rows, length;
  float scale;
};
// Which keys a row sees: those whose rank is below its limit.
struct Seen {
  const std::int32_t *rank, *limit;
};
// The two products of which a score is the sum.
template <class T>
struct Products {
  T *content, *relative;
};
// The rows [first, last) of a shape.
struct Rows {
  const AttentionShape& shape;
  std::int64_t first, last;
};

// Turns rows of scores into rows of probabilities.
template <class T>
DRAFTLAB_INLINE void soften(const Rows& rows, const Products<const T>& scores, const Seen& seen,
                            T* out) {
  const AttentionShape& s = rows.shape;
  const int n = s.length;
  std::vector<float> buffer(n);
  float* row = buffer.data();
  for (std::int64_t at = rows.first; at < rows.last; at++) {
    const std::int64_t r = at % s.rows, b = at / s.rows % s.batch, shift = n - 1 - r % n;
    const T *content = scores.content + at * n,
            *relative = scores.relative + at * (2 * n - 1) + shift;
    const std::int32_t *rank = seen.rank + b * n, limit = seen.limit[b * s.rows + r];
    T* to = out + at * n;
    const float scale = s.scale;
    float top = kUnseen, sum = 0;
#pragma omp simd reduction(max : top)
    for (int j = 0; j < n; j++) {
      const float score =
          rank[j] < limit ? (widen(content[j]) + widen(relative[j])) * scale : kUnseen;
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
    for (int j = 0; j < n; j++) narrow(row[j] * share, to[j]);
  }
}

// Computes the gradient of the scores from that of the probabilities. It goes to both products.
template <class T>
DRAFTLAB_INLINE void harden(const Rows& rows,
                            std::pair<const T*, const T*> probability_and_gradient,
                            const Products<T>& out) {
  const AttentionShape& s = rows.shape;
  const int n = s.length, width = 2 * n - 1;
  for (std::int64_t at = rows.first; at < rows.last; at++) {
    const T *probability = probability_and_gradient.first + at * n,
            *gradient = probability_and_gradient.second + at * n;
    const std::int64_t shift = n - 1 - at % s.rows % n;
    T *wide = out.relative + at * width, *content = out.content + at * n, *relative = wide + shift;
    std::fill(wide, wide + shift, T{});
    std::fill(wide + shift + n, wide + width, T{});
    const float scale = s.scale;
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
}

// Maps [H, B, ...] to [H B, ...].
at::Tensor flat(const at::Tensor& tensor) { return tensor.flatten(0, 1); }

AttentionShape shape_of(const at::Tensor& q, const at::Tensor& k) {
  return {static_cast<int>(q.size(1)), static_cast<int>(q.size(2)), static_cast<int>(k.size(2)),
          1 / std::sqrt(static_cast<float>(q.size(3)))};
}
// A thread takes so many rows at a time.
constexpr std::int64_t kGrain = 64;

using fused::data;
using fused::of_type;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct TwoStreamAttention : torch::autograd::Function<TwoStreamAttention> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& qw, const at::Tensor& qr,
                            const at::Tensor& k, const at::Tensor& v, const at::Tensor& r,
                            const at::Tensor& rank, const at::Tensor& limit) {
    const AttentionShape s = shape_of(qw, k);
    const std::int64_t rows = qw.size(0) * s.batch * s.rows;
    const at::Tensor content = at::bmm(flat(qw), flat(k).transpose(1, 2));
    const at::Tensor relative = at::bmm(qr.flatten(1, 2), r.transpose(1, 2));
    const at::Tensor probability = at::empty_like(content);
    of_type(qw, [&]<class T>(T) {
      const Seen seen{data<std::int32_t>(rank), data<std::int32_t>(limit)};
      const Products<const T> scores{data<T>(content), data<T>(relative)};
      T* const out = data<T>(probability);
      at::parallel_for(0, rows, kGrain, [&](std::int64_t first, std::int64_t last) {
        on_widest([&] { soften<T>({s, first, last}, scores, seen, out); });
      });
    });
    context->save_for_backward({qw, qr, k, v, r, probability});
    return at::bmm(probability, flat(v)).view(qw.sizes());
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &qw = saved[0], &qr = saved[1], &k = saved[2], &v = saved[3], &r = saved[4],
                     &probability = saved[5];
    const AttentionShape s = shape_of(qw, k);
    const std::int64_t heads = qw.size(0), rows = heads * s.batch * s.rows;
    const at::Tensor out = flat(gradients[0].contiguous());
    const at::Tensor d_probability = at::bmm(out, flat(v).transpose(1, 2));
    const at::Tensor content = at::empty_like(probability);
    const at::Tensor relative =
        at::empty({heads, static_cast<std::int64_t>(s.batch) * s.rows, 2 * s.length - 1},
                  probability.options());
    of_type(qw, [&]<class T>(T) {
      const Products<T> products{data<T>(content), data<T>(relative)};
      const std::pair<const T*, const T*> given(data<T>(probability), data<T>(d_probability));
      at::parallel_for(0, rows, kGrain, [&](std::int64_t first, std::int64_t last) {
        on_widest([&] { harden<T>({s, first, last}, given, products); });
      });
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

at::Tensor two_stream_attention(const StreamQueries& q, const StreamKeys& k,
                                const StreamRanks& ranks) {
  return TwoStreamAttention::apply(q.content, q.relative, k.keys, k.values, k.relative, ranks.rank,
                                   ranks.limit);
}

}  // namespace draftlab
