#include "plugins/models/nn/kernels/decoder_kernels_torch.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "plugins/models/nn/kernels/fused_torch.h"
#include "plugins/models/nn/kernels/rows/lanes.h"

namespace draftlab {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

using namespace fused;

// This part is RMSNorm. `T` is the type of its output and of its gradient.

struct NormShape {
  std::int64_t rows;
  int width;
  explicit NormShape(const at::Tensor& x)
      : rows(x.numel() / x.size(-1)), width(static_cast<int>(x.size(-1))) {}
};
struct NormInput {
  const float *x, *weight;
  float epsilon = 0;
};

// `inverse` is filled: a number a row, by which it is scaled.
template <class T>
DRAFTLAB_INLINE void norm_rows(const NormShape& shape, NormInput in, float* inverse, T* out) {
  const int d = shape.width;
  for (std::int64_t r = 0; r < shape.rows; r++, in.x += d, out += d) {
    float square = 0;
#pragma omp simd reduction(+ : square)
    for (int j = 0; j < d; j++) square += in.x[j] * in.x[j];
    const float by = inverse[r] = 1 / std::sqrt(square / static_cast<float>(d) + in.epsilon);
#pragma omp simd
    for (int j = 0; j < d; j++) narrow(in.x[j] * by * in.weight[j], out[j]);
  }
}
template <class T>
struct NormGradient {
  const T* out;
  float *x, *weight;
};
template <class T>
DRAFTLAB_INLINE void norm_rows_back(const NormShape& shape, NormInput in, const float* inverse,
                                    NormGradient<T> gradient) {
  const int d = shape.width;
  for (std::int64_t r = 0; r < shape.rows; r++, in.x += d, gradient.out += d, gradient.x += d) {
    const float by = inverse[r];
    float dot = 0;
#pragma omp simd reduction(+ : dot)
    for (int j = 0; j < d; j++) dot += widen(gradient.out[j]) * in.weight[j] * in.x[j];
    const float pull = dot * by * by / static_cast<float>(d);
#pragma omp simd
    for (int j = 0; j < d; j++) {
      const float g = widen(gradient.out[j]);
      gradient.weight[j] += g * in.x[j] * by;
      gradient.x[j] = by * (g * in.weight[j] - in.x[j] * pull);
    }
  }
}

struct RmsNorm : torch::autograd::Function<RmsNorm> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& given,
                            const at::Tensor& weight, double epsilon, bool bf16) {
    const at::Tensor x = given.contiguous();
    const NormShape shape(x);
    const at::Tensor out =
                         at::empty(x.sizes(), x.options().dtype(bf16 ? at::kBFloat16 : at::kFloat)),
                     inverse = at::empty({shape.rows}, x.options());
    of_type(out, [&]<class T>(T) {
      const NormInput in{data<float>(x), data<float>(weight), static_cast<float>(epsilon)};
      float* const scales = data<float>(inverse);
      T* const to = data<T>(out);
      on_widest([&] { norm_rows(shape, in, scales, to); });
    });
    context->save_for_backward({x, weight, inverse});
    return out;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &inverse = saved[2],
                     gradient = gradients[0].contiguous();
    const at::Tensor d_x = at::empty_like(x), d_weight = at::zeros_like(weight);
    const NormShape shape(x);
    of_type(gradient, [&]<class T>(T) {
      const NormInput in{data<float>(x), data<float>(weight)};
      const float* const scales = data<float>(inverse);
      const NormGradient<T> back{data<T>(gradient), data<float>(d_x), data<float>(d_weight)};
      on_widest([&] { norm_rows_back(shape, in, scales, back); });
    });
    return {d_x, d_weight, {}, {}};
  }
};

// This part is SwiGLU.

DRAFTLAB_INLINE float sigmoid(float x) { return 1 / (1 + exponential(-x)); }
template <class T>
DRAFTLAB_INLINE void gate_all(std::int64_t count, const T* gate, const T* up, T* out) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; i++) {
    const float x = widen(gate[i]);
    narrow(x * sigmoid(x) * widen(up[i]), out[i]);
  }
}
template <class T>
struct GateGradient {
  const T* out;
  T *gate, *up;
};
template <class T>
DRAFTLAB_INLINE void gate_all_back(std::int64_t count, const T* gate, const T* up,
                                   GateGradient<T> gradient) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; i++) {
    const float x = widen(gate[i]), s = sigmoid(x), g = widen(gradient.out[i]);
    narrow(g * widen(up[i]) * s * (1 + x * (1 - s)), gradient.gate[i]);
    narrow(g * x * s, gradient.up[i]);
  }
}

struct Gated : torch::autograd::Function<Gated> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& gate,
                            const at::Tensor& up) {
    const at::Tensor out = at::empty_like(gate);
    of_type(gate, [&]<class T>(T) {
      const T *const x = data<T>(gate), *const y = data<T>(up);
      T* const to = data<T>(out);
      on_widest([&] { gate_all(gate.numel(), x, y, to); });
    });
    context->save_for_backward({gate, up});
    return out;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &gate = saved[0], &up = saved[1], gradient = gradients[0].contiguous();
    const at::Tensor d_gate = at::empty_like(gate), d_up = at::empty_like(up);
    of_type(gate, [&]<class T>(T) {
      const T *const x = data<T>(gate), *const y = data<T>(up);
      const GateGradient<T> back{data<T>(gradient), data<T>(d_gate), data<T>(d_up)};
      on_widest([&] { gate_all_back(gate.numel(), x, y, back); });
    });
    return {d_gate, d_up};
  }
};

}  // namespace

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double epsilon,
                    at::ScalarType type) {
  if (!weight.defined()) return x.to(type);
  return RmsNorm::apply(x, weight, epsilon, type == at::kBFloat16);
}
at::Tensor gated(const at::Tensor& gate, const at::Tensor& up) { return Gated::apply(gate, up); }
}  // namespace draftlab
