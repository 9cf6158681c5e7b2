// Attention over intervals of keys. Scores become probabilities in place, and gradients of
// probabilities become gradients of scores.
#include <ATen/Parallel.h>
#include <ATen/ops/bmm.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "plugins/models/nn/kernels/decoder_kernels_torch.h"
#include "plugins/models/nn/kernels/fused_torch.h"
#include "plugins/models/nn/kernels/rows/lanes.h"
#include "plugins/models/nn/kernels/softmax_row.h"

namespace draftlab {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

using namespace fused;

struct IntervalShape {
  std::int64_t batch, heads, rows;
  int keys;
};

template <class T>
DRAFTLAB_INLINE void soften(const IntervalShape& s, const std::int32_t* seen, T* scores) {
  std::vector<float> buffer(s.keys);
  float* row = buffer.data();
  for (std::int64_t at = 0; at < s.batch * s.heads * s.rows; at++) {
    const std::int32_t* see = seen + (at / (s.heads * s.rows) * s.rows + at % s.rows) * 3;
    const int a = see[0], b = see[1], c = see[2];
    T* line = scores + at * s.keys;
    float top = kUnseen, sum = 0;
#pragma omp simd reduction(max : top)
    for (int j = 0; j < a; j++) top = std::max(top, widen(line[j]));
#pragma omp simd reduction(max : top)
    for (int j = b; j < c; j++) top = std::max(top, widen(line[j]));
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < a; j++) sum += row[j] = exponential(widen(line[j]) - top);
#pragma omp simd reduction(+ : sum)
    for (int j = b; j < c; j++) sum += row[j] = exponential(widen(line[j]) - top);
    const float share = 1 / sum;
#pragma omp simd
    for (int j = 0; j < a; j++) narrow(row[j] * share, line[j]);
    std::fill(line + a, line + b, T{});
#pragma omp simd
    for (int j = b; j < c; j++) narrow(row[j] * share, line[j]);
    std::fill(line + c, line + s.keys, T{});
  }
}
// A key that a row does not see has probability 0, so its score has gradient 0.
template <class T>
DRAFTLAB_INLINE void harden(const IntervalShape& s, const T* probability, T* gradient) {
  for (std::int64_t at = 0; at < s.batch * s.heads * s.rows;
       at++, probability += s.keys, gradient += s.keys) {
    float dot = 0;
#pragma omp simd reduction(+ : dot)
    for (int j = 0; j < s.keys; j++) dot += widen(probability[j]) * widen(gradient[j]);
#pragma omp simd
    for (int j = 0; j < s.keys; j++)
      narrow(widen(probability[j]) * (widen(gradient[j]) - dot), gradient[j]);
  }
}
struct IntervalAttention : torch::autograd::Function<IntervalAttention> {
  // Maps [n, H, R, dh] to [n G, H / G R, dh]: the heads of a group stand below one another.
  static at::Tensor grouped(const at::Tensor& x, std::int64_t groups) {
    return x.reshape({x.size(0) * groups, x.size(1) / groups * x.size(2), x.size(3)});
  }
  static IntervalShape shape(const at::Tensor& q, const at::Tensor& k) {
    return {q.size(0), q.size(1), q.size(2), static_cast<int>(k.size(2))};
  }

  static at::Tensor forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k,
                            const at::Tensor& v, const at::Tensor& seen) {
    const std::int64_t groups = k.size(1);
    const at::Tensor probability =
        at::bmm(grouped(q, groups), k.flatten(0, 1).transpose(1, 2)).contiguous();
    of_type(q, [&]<class T>(T) {
      const IntervalShape s = shape(q, k);
      const std::int32_t* const keys = data<std::int32_t>(seen);
      T* const scores = data<T>(probability);
      on_widest([&] { soften(s, keys, scores); });
    });
    context->save_for_backward({q, k, v, probability});
    return at::bmm(probability, v.flatten(0, 1)).view(q.sizes()).transpose(1, 2).flatten(2, 3);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &q = saved[0], &k = saved[1], &v = saved[2], &probability = saved[3];
    const std::int64_t groups = k.size(1);
    const at::Tensor out = grouped(
        gradients[0].view({q.size(0), q.size(2), q.size(1), q.size(3)}).transpose(1, 2), groups);
    const at::Tensor scores = at::bmm(out, v.flatten(0, 1).transpose(1, 2)).contiguous();
    of_type(q, [&]<class T>(T) {
      const IntervalShape s = shape(q, k);
      const T* const shares = data<T>(probability);
      T* const gradient = data<T>(scores);
      on_widest([&] { harden(s, shares, gradient); });
    });
    return {at::bmm(scores, k.flatten(0, 1)).view(q.sizes()),
            at::bmm(scores.transpose(1, 2), grouped(q, groups)).view(k.sizes()),
            at::bmm(probability.transpose(1, 2), out).view(v.sizes()),
            {}};
  }
};

}  // namespace

at::Tensor interval_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                              const at::Tensor& seen) {
  return IntervalAttention::apply(q, k, v, seen);
}

}  // namespace draftlab
