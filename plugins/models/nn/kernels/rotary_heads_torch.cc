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

// The weight of the norm, or null, and the angles.
struct Angles {
  const float *weight, *cosine, *sine;
};

template <class T>
DRAFTLAB_INLINE void rotate(const HeadShape& s, const T* x, const Angles& angles, T* out) {
  const float* const weight = angles.weight;
  std::vector<float> buffer(2 * s.half);
  float* y = buffer.data();
  for (std::int64_t b = 0; b < s.batch; b++)
    for (std::int64_t r = 0; r < s.rows; r++) {
      const float *c = angles.cosine + s.row(b, r), *z = angles.sine + s.row(b, r);
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
struct HeadGradient {
  const T* out;
  T* x;
  float* weight;
};
template <class T>
DRAFTLAB_INLINE void rotate_back(const HeadShape& s, const T* x, const Angles& angles,
                                 const HeadGradient<T>& gradient) {
  const float* const weight = angles.weight;
  float* const d_weight = gradient.weight;
  std::vector<float> buffer(4 * s.half);
  float *y = buffer.data(), *g = y + 2 * s.half;
  for (std::int64_t b = 0; b < s.batch; b++)
    for (std::int64_t r = 0; r < s.rows; r++) {
      const float *c = angles.cosine + s.row(b, r), *z = angles.sine + s.row(b, r);
      for (std::int64_t h = 0; h < s.heads; h++) {
        const T *from = x + s.packed(b, r, h), *back = gradient.out + s.apart(b, r, h);
        T* to = gradient.x + s.packed(b, r, h);
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
HeadShape head_shape(const at::Tensor& x, const Rotary& by, double factor) {
  return {x.size(0),
          x.size(1),
          x.size(2) / (2 * by.cosine.size(2)),
          static_cast<int>(by.cosine.size(2)),
          static_cast<float>(by.epsilon),
          static_cast<float>(factor)};
}
Angles angles_of(const at::Tensor& weight, const Rotary& by) {
  return {weight.numel() > 0 ? data<float>(weight) : nullptr, data<float>(by.cosine),
          data<float>(by.sine)};
}

// An empty weight means that there is no norm. (A Function does not take an undefined one.)
struct RotaryHeads : torch::autograd::Function<RotaryHeads> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& given,
                            const at::Tensor& weight, const Rotary& by, double factor) {
    const at::Tensor x = given.contiguous();
    const HeadShape s = head_shape(x, by, factor);
    const at::Tensor out = at::empty({s.batch, s.heads, s.rows, 2 * s.half}, x.options());
    of_type(x, [&]<class T>(T) {
      const T* const from = data<T>(x);
      const Angles angles = angles_of(weight, by);
      T* const to = data<T>(out);
      on_widest([&] { rotate(s, from, angles, to); });
    });
    context->save_for_backward({x, weight, by.cosine, by.sine});
    context->saved_data["epsilon"] = by.epsilon;
    context->saved_data["factor"] = factor;
    return out;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], gradient = gradients[0].contiguous();
    const Rotary by{saved[2], saved[3], context->saved_data["epsilon"].toDouble()};
    const HeadShape s = head_shape(x, by, context->saved_data["factor"].toDouble());
    const at::Tensor d_x = at::empty_like(x), d_weight = at::zeros_like(weight);
    of_type(x, [&]<class T>(T) {
      const T* const from = data<T>(x);
      const Angles angles = angles_of(weight, by);
      const HeadGradient<T> back{data<T>(gradient), data<T>(d_x),
                                 angles.weight ? data<float>(d_weight) : nullptr};
      on_widest([&] { rotate_back(s, from, angles, back); });
    });
    return {d_x, d_weight, {}, {}};
  }
};

}  // namespace

at::Tensor rotary_heads(const at::Tensor& x, const at::Tensor& weight, const Rotary& by,
                        double factor) {
  return RotaryHeads::apply(x, weight.defined() ? weight : at::empty({0}, by.cosine.options()),
                            Rotary{by.cosine.contiguous(), by.sine.contiguous(), by.epsilon},
                            factor);
}
}  // namespace draftlab
