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

template <class T>
DRAFTLAB_INLINE void norm_rows(std::int64_t rows, int d, const float* x, const float* weight,
                               float epsilon, float* inverse, T* out) {
  for (std::int64_t r = 0; r < rows; r++, x += d, out += d) {
    float square = 0;
#pragma omp simd reduction(+ : square)
    for (int j = 0; j < d; j++) square += x[j] * x[j];
    const float by = inverse[r] = 1 / std::sqrt(square / static_cast<float>(d) + epsilon);
#pragma omp simd
    for (int j = 0; j < d; j++) narrow(x[j] * by * weight[j], out[j]);
  }
}
template <class T>
DRAFTLAB_INLINE void norm_rows_back(std::int64_t rows, int d, const float* x, const float* weight,
                                    const float* inverse, const T* gradient, float* d_x,
                                    float* d_weight) {
  for (std::int64_t r = 0; r < rows; r++, x += d, gradient += d, d_x += d) {
    const float by = inverse[r];
    float dot = 0;
#pragma omp simd reduction(+ : dot)
    for (int j = 0; j < d; j++) dot += widen(gradient[j]) * weight[j] * x[j];
    const float pull = dot * by * by / static_cast<float>(d);
#pragma omp simd
    for (int j = 0; j < d; j++) {
      const float g = widen(gradient[j]);
      d_weight[j] += g * x[j] * by;
      d_x[j] = by * (g * weight[j] - x[j] * pull);
    }
  }
}
void norm_f32(std::int64_t rows, int d, const float* x, const float* weight, float epsilon,
              float* inverse, float* out) {
  on_widest([&] { norm_rows(rows, d, x, weight, epsilon, inverse, out); });
}
void norm_bf16(std::int64_t rows, int d, const float* x, const float* weight, float epsilon,
               float* inverse, Half* out) {
  on_widest([&] { norm_rows(rows, d, x, weight, epsilon, inverse, out); });
}
void norm_back_f32(std::int64_t rows, int d, const float* x, const float* weight,
                   const float* inverse, const float* gradient, float* d_x, float* d_weight) {
  on_widest([&] { norm_rows_back(rows, d, x, weight, inverse, gradient, d_x, d_weight); });
}
void norm_back_bf16(std::int64_t rows, int d, const float* x, const float* weight,
                    const float* inverse, const Half* gradient, float* d_x, float* d_weight) {
  on_widest([&] { norm_rows_back(rows, d, x, weight, inverse, gradient, d_x, d_weight); });
}

struct RmsNorm : torch::autograd::Function<RmsNorm> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& given,
                            const at::Tensor& weight, double epsilon, bool bf16) {
    const at::Tensor x = given.contiguous();
    const std::int64_t d = x.size(-1), rows = x.numel() / d;
    const at::Tensor out =
                         at::empty(x.sizes(), x.options().dtype(bf16 ? at::kBFloat16 : at::kFloat)),
                     inverse = at::empty({rows}, x.options());
    const auto e = static_cast<float>(epsilon);
    if (bf16)
      norm_bf16(rows, static_cast<int>(d), data<float>(x), data<float>(weight), e,
                data<float>(inverse), data<Half>(out));
    else
      norm_f32(rows, static_cast<int>(d), data<float>(x), data<float>(weight), e,
               data<float>(inverse), data<float>(out));
    context->save_for_backward({x, weight, inverse});
    return out;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &inverse = saved[2],
                     gradient = gradients[0].contiguous();
    const std::int64_t d = x.size(-1), rows = x.numel() / d;
    const at::Tensor d_x = at::empty_like(x), d_weight = at::zeros_like(weight);
    if (is_bf16(gradient))
      norm_back_bf16(rows, static_cast<int>(d), data<float>(x), data<float>(weight),
                     data<float>(inverse), data<Half>(gradient), data<float>(d_x),
                     data<float>(d_weight));
    else
      norm_back_f32(rows, static_cast<int>(d), data<float>(x), data<float>(weight),
                    data<float>(inverse), data<float>(gradient), data<float>(d_x),
                    data<float>(d_weight));
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
DRAFTLAB_INLINE void gate_all_back(std::int64_t count, const T* gate, const T* up,
                                   const T* gradient, T* d_gate, T* d_up) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; i++) {
    const float x = widen(gate[i]), s = sigmoid(x), g = widen(gradient[i]);
    narrow(g * widen(up[i]) * s * (1 + x * (1 - s)), d_gate[i]);
    narrow(g * x * s, d_up[i]);
  }
}
void gate_f32(std::int64_t count, const float* gate, const float* up, float* out) {
  on_widest([&] { gate_all(count, gate, up, out); });
}
void gate_bf16(std::int64_t count, const Half* gate, const Half* up, Half* out) {
  on_widest([&] { gate_all(count, gate, up, out); });
}
void gate_back_f32(std::int64_t count, const float* gate, const float* up, const float* gradient,
                   float* d_gate, float* d_up) {
  on_widest([&] { gate_all_back(count, gate, up, gradient, d_gate, d_up); });
}
void gate_back_bf16(std::int64_t count, const Half* gate, const Half* up, const Half* gradient,
                    Half* d_gate, Half* d_up) {
  on_widest([&] { gate_all_back(count, gate, up, gradient, d_gate, d_up); });
}

struct Gated : torch::autograd::Function<Gated> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& gate,
                            const at::Tensor& up) {
    const at::Tensor out = at::empty_like(gate);
    if (is_bf16(gate))
      gate_bf16(gate.numel(), data<Half>(gate), data<Half>(up), data<Half>(out));
    else
      gate_f32(gate.numel(), data<float>(gate), data<float>(up), data<float>(out));
    context->save_for_backward({gate, up});
    return out;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &gate = saved[0], &up = saved[1], gradient = gradients[0].contiguous();
    const at::Tensor d_gate = at::empty_like(gate), d_up = at::empty_like(up);
    if (is_bf16(gate))
      gate_back_bf16(gate.numel(), data<Half>(gate), data<Half>(up), data<Half>(gradient),
                     data<Half>(d_gate), data<Half>(d_up));
    else
      gate_back_f32(gate.numel(), data<float>(gate), data<float>(up), data<float>(gradient),
                    data<float>(d_gate), data<float>(d_up));
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
