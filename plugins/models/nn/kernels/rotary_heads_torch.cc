// Turns projections into heads: norm, rotation and layout.
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "plugins/models/nn/kernels/decoder_kernels_torch.h"
#include "plugins/models/nn/kernels/fused_torch.h"
#include "plugins/models/nn/kernels/rows/lanes.h"

namespace draftlab {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

using namespace fused;

struct HeadShape {
  std::int64_t batch, rows, heads;
  // Half the width of a head.
  int half;
  float epsilon, factor;
  std::int64_t packed(std::int64_t b, std::int64_t r, std::int64_t h) const {
    return ((b * rows + r) * heads + h) * 2 * half;
  }
  std::int64_t apart(std::int64_t b, std::int64_t r, std::int64_t h) const {
    return ((b * heads + h) * rows + r) * 2 * half;
  }
  std::int64_t row(std::int64_t b, std::int64_t r) const { return (b * rows + r) * half; }
};

DRAFTLAB_INLINE float inverse_root(const float* x, const HeadShape& s) {
  float square = 0;
#pragma omp simd reduction(+ : square)
  for (int j = 0; j < 2 * s.half; j++) square += x[j] * x[j];
  return 1 / std::sqrt(square / static_cast<float>(2 * s.half) + s.epsilon);
}

template <class T>
DRAFTLAB_INLINE void rotate(const HeadShape& s, const T* x, const float* weight,
                            const float* cosine, const float* sine, T* out) {
  std::vector<float> buffer(2 * s.half);
  float* y = buffer.data();
  for (std::int64_t b = 0; b < s.batch; b++)
    for (std::int64_t r = 0; r < s.rows; r++) {
      const float *c = cosine + s.row(b, r), *z = sine + s.row(b, r);
      for (std::int64_t h = 0; h < s.heads; h++) {
        const T* from = x + s.packed(b, r, h);
        T* to = out + s.apart(b, r, h);
        for (int j = 0; j < 2 * s.half; j++) y[j] = widen(from[j]);
        const float by = (weight ? inverse_root(y, s) : 1) * s.factor;
        for (int j = 0; j < 2 * s.half; j++) y[j] *= weight ? by * weight[j] : by;
#pragma omp simd
        for (int j = 0; j < s.half; j++) {
          narrow(y[j] * c[j] - y[s.half + j] * z[j], to[j]);
          narrow(y[s.half + j] * c[j] + y[j] * z[j], to[s.half + j]);
        }
      }
    }
}
template <class T>
DRAFTLAB_INLINE void rotate_back(const HeadShape& s, const T* x, const float* weight,
                                 const float* cosine, const float* sine, const T* gradient, T* d_x,
                                 float* d_weight) {
  std::vector<float> buffer(4 * s.half);
  float *y = buffer.data(), *g = y + 2 * s.half;
  for (std::int64_t b = 0; b < s.batch; b++)
    for (std::int64_t r = 0; r < s.rows; r++) {
      const float *c = cosine + s.row(b, r), *z = sine + s.row(b, r);
      for (std::int64_t h = 0; h < s.heads; h++) {
        const T *from = x + s.packed(b, r, h), *back = gradient + s.apart(b, r, h);
        T* to = d_x + s.packed(b, r, h);
        for (int j = 0; j < 2 * s.half; j++) y[j] = widen(from[j]);
#pragma omp simd
        for (int j = 0; j < s.half; j++) {
          const float p = widen(back[j]), q = widen(back[s.half + j]);
          g[j] = (p * c[j] + q * z[j]) * s.factor;
          g[s.half + j] = (q * c[j] - p * z[j]) * s.factor;
        }
        if (!weight) {
          for (int j = 0; j < 2 * s.half; j++) narrow(g[j], to[j]);
          continue;
        }
        const float by = inverse_root(y, s);
        float dot = 0;
#pragma omp simd reduction(+ : dot)
        for (int j = 0; j < 2 * s.half; j++) dot += g[j] * weight[j] * y[j];
        const float pull = dot * by * by / static_cast<float>(2 * s.half);
#pragma omp simd
        for (int j = 0; j < 2 * s.half; j++) {
          d_weight[j] += g[j] * y[j] * by;
          narrow(by * (g[j] * weight[j] - y[j] * pull), to[j]);
        }
      }
    }
}
void rotate_f32(const HeadShape& s, const float* x, const float* weight, const float* cosine,
                const float* sine, float* out) {
  on_widest([&] { rotate(s, x, weight, cosine, sine, out); });
}
void rotate_bf16(const HeadShape& s, const Half* x, const float* weight, const float* cosine,
                 const float* sine, Half* out) {
  on_widest([&] { rotate(s, x, weight, cosine, sine, out); });
}
void rotate_back_f32(const HeadShape& s, const float* x, const float* weight, const float* cosine,
                     const float* sine, const float* gradient, float* d_x, float* d_weight) {
  on_widest([&] { rotate_back(s, x, weight, cosine, sine, gradient, d_x, d_weight); });
}
void rotate_back_bf16(const HeadShape& s, const Half* x, const float* weight, const float* cosine,
                      const float* sine, const Half* gradient, Half* d_x, float* d_weight) {
  on_widest([&] { rotate_back(s, x, weight, cosine, sine, gradient, d_x, d_weight); });
}

HeadShape head_shape(const at::Tensor& x, const at::Tensor& cosine, double epsilon, double factor) {
  return {x.size(0),
          x.size(1),
          x.size(2) / (2 * cosine.size(2)),
          static_cast<int>(cosine.size(2)),
          static_cast<float>(epsilon),
          static_cast<float>(factor)};
}

// An empty weight means that there is no norm. (A Function does not take an undefined one.)
struct RotaryHeads : torch::autograd::Function<RotaryHeads> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& given,
                            const at::Tensor& weight, const at::Tensor& cosine,
                            const at::Tensor& sine, double epsilon, double factor) {
    const at::Tensor x = given.contiguous();
    const HeadShape s = head_shape(x, cosine, epsilon, factor);
    const at::Tensor out = at::empty({s.batch, s.heads, s.rows, 2 * s.half}, x.options());
    const float* w = weight.numel() > 0 ? data<float>(weight) : nullptr;
    if (is_bf16(x))
      rotate_bf16(s, data<Half>(x), w, data<float>(cosine), data<float>(sine), data<Half>(out));
    else
      rotate_f32(s, data<float>(x), w, data<float>(cosine), data<float>(sine), data<float>(out));
    context->save_for_backward({x, weight, cosine, sine});
    context->saved_data["epsilon"] = epsilon;
    context->saved_data["factor"] = factor;
    return out;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &cosine = saved[2], &sine = saved[3],
                     gradient = gradients[0].contiguous();
    const HeadShape s = head_shape(x, cosine, context->saved_data["epsilon"].toDouble(),
                                   context->saved_data["factor"].toDouble());
    const at::Tensor d_x = at::empty_like(x), d_weight = at::zeros_like(weight);
    const float* w = weight.numel() > 0 ? data<float>(weight) : nullptr;
    float* d_w = w ? data<float>(d_weight) : nullptr;
    if (is_bf16(x))
      rotate_back_bf16(s, data<Half>(x), w, data<float>(cosine), data<float>(sine),
                       data<Half>(gradient), data<Half>(d_x), d_w);
    else
      rotate_back_f32(s, data<float>(x), w, data<float>(cosine), data<float>(sine),
                      data<float>(gradient), data<float>(d_x), d_w);
    return {d_x, d_weight, {}, {}, {}, {}};
  }
};

}  // namespace

at::Tensor rotary_heads(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& cosine,
                        const at::Tensor& sine, double epsilon, double factor) {
  return RotaryHeads::apply(x, weight.defined() ? weight : at::empty({0}, cosine.options()),
                            cosine.contiguous(), sine.contiguous(), epsilon, factor);
}
}  // namespace draftlab
