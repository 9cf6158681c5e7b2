#include "plugins/models/kernels/decoder_kernels_torch.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "plugins/models/kernels/lanes.h"

namespace draftlab {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The bits of a bf16.
using Half = std::uint16_t;
template <class T>
T* data(const at::Tensor& tensor) {
  return static_cast<T*>(tensor.data_ptr());
}
bool is_bf16(const at::Tensor& tensor) { return tensor.scalar_type() == at::kBFloat16; }

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
DRAFTLAB_WIDEST void norm_f32(std::int64_t rows, int d, const float* x, const float* weight,
                              float epsilon, float* inverse, float* out) {
  norm_rows(rows, d, x, weight, epsilon, inverse, out);
}
DRAFTLAB_WIDEST void norm_bf16(std::int64_t rows, int d, const float* x, const float* weight,
                               float epsilon, float* inverse, Half* out) {
  norm_rows(rows, d, x, weight, epsilon, inverse, out);
}
DRAFTLAB_WIDEST void norm_back_f32(std::int64_t rows, int d, const float* x, const float* weight,
                                   const float* inverse, const float* gradient, float* d_x,
                                   float* d_weight) {
  norm_rows_back(rows, d, x, weight, inverse, gradient, d_x, d_weight);
}
DRAFTLAB_WIDEST void norm_back_bf16(std::int64_t rows, int d, const float* x, const float* weight,
                                    const float* inverse, const Half* gradient, float* d_x,
                                    float* d_weight) {
  norm_rows_back(rows, d, x, weight, inverse, gradient, d_x, d_weight);
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

// This part turns projections into heads: norm, rotation and layout.

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
DRAFTLAB_INLINE void turn(const HeadShape& s, const T* x, const float* weight, const float* cosine,
                          const float* sine, T* out) {
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
DRAFTLAB_INLINE void turn_back(const HeadShape& s, const T* x, const float* weight,
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
DRAFTLAB_WIDEST void turn_f32(const HeadShape& s, const float* x, const float* weight,
                              const float* cosine, const float* sine, float* out) {
  turn(s, x, weight, cosine, sine, out);
}
DRAFTLAB_WIDEST void turn_bf16(const HeadShape& s, const Half* x, const float* weight,
                               const float* cosine, const float* sine, Half* out) {
  turn(s, x, weight, cosine, sine, out);
}
DRAFTLAB_WIDEST void turn_back_f32(const HeadShape& s, const float* x, const float* weight,
                                   const float* cosine, const float* sine, const float* gradient,
                                   float* d_x, float* d_weight) {
  turn_back(s, x, weight, cosine, sine, gradient, d_x, d_weight);
}
DRAFTLAB_WIDEST void turn_back_bf16(const HeadShape& s, const Half* x, const float* weight,
                                    const float* cosine, const float* sine, const Half* gradient,
                                    Half* d_x, float* d_weight) {
  turn_back(s, x, weight, cosine, sine, gradient, d_x, d_weight);
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
struct TurnedHeads : torch::autograd::Function<TurnedHeads> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& given,
                            const at::Tensor& weight, const at::Tensor& cosine,
                            const at::Tensor& sine, double epsilon, double factor) {
    const at::Tensor x = given.contiguous();
    const HeadShape s = head_shape(x, cosine, epsilon, factor);
    const at::Tensor out = at::empty({s.batch, s.heads, s.rows, 2 * s.half}, x.options());
    const float* w = weight.numel() > 0 ? data<float>(weight) : nullptr;
    if (is_bf16(x))
      turn_bf16(s, data<Half>(x), w, data<float>(cosine), data<float>(sine), data<Half>(out));
    else
      turn_f32(s, data<float>(x), w, data<float>(cosine), data<float>(sine), data<float>(out));
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
      turn_back_bf16(s, data<Half>(x), w, data<float>(cosine), data<float>(sine),
                     data<Half>(gradient), data<Half>(d_x), d_w);
    else
      turn_back_f32(s, data<float>(x), w, data<float>(cosine), data<float>(sine),
                    data<float>(gradient), data<float>(d_x), d_w);
    return {d_x, d_weight, {}, {}, {}, {}};
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
DRAFTLAB_WIDEST void gate_f32(std::int64_t count, const float* gate, const float* up, float* out) {
  gate_all(count, gate, up, out);
}
DRAFTLAB_WIDEST void gate_bf16(std::int64_t count, const Half* gate, const Half* up, Half* out) {
  gate_all(count, gate, up, out);
}
DRAFTLAB_WIDEST void gate_back_f32(std::int64_t count, const float* gate, const float* up,
                                   const float* gradient, float* d_gate, float* d_up) {
  gate_all_back(count, gate, up, gradient, d_gate, d_up);
}
DRAFTLAB_WIDEST void gate_back_bf16(std::int64_t count, const Half* gate, const Half* up,
                                    const Half* gradient, Half* d_gate, Half* d_up) {
  gate_all_back(count, gate, up, gradient, d_gate, d_up);
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

// This part is attention over intervals of keys. Scores become probabilities in place, and
// gradients of probabilities become gradients of scores.

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
    float top = -3e38f, sum = 0;
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
DRAFTLAB_WIDEST void soften_f32(const IntervalShape& s, const std::int32_t* seen, float* scores) {
  soften(s, seen, scores);
}
DRAFTLAB_WIDEST void soften_bf16(const IntervalShape& s, const std::int32_t* seen, Half* scores) {
  soften(s, seen, scores);
}
DRAFTLAB_WIDEST void harden_f32(const IntervalShape& s, const float* probability, float* gradient) {
  harden(s, probability, gradient);
}
DRAFTLAB_WIDEST void harden_bf16(const IntervalShape& s, const Half* probability, Half* gradient) {
  harden(s, probability, gradient);
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
    if (is_bf16(q))
      soften_bf16(shape(q, k), data<std::int32_t>(seen), data<Half>(probability));
    else
      soften_f32(shape(q, k), data<std::int32_t>(seen), data<float>(probability));
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
    if (is_bf16(q))
      harden_bf16(shape(q, k), data<Half>(probability), data<Half>(scores));
    else
      harden_f32(shape(q, k), data<float>(probability), data<float>(scores));
    return {at::bmm(scores, k.flatten(0, 1)).view(q.sizes()),
            at::bmm(scores.transpose(1, 2), grouped(q, groups)).view(k.sizes()),
            at::bmm(probability.transpose(1, 2), out).view(v.sizes()),
            {}};
  }
};

}  // namespace

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double epsilon,
                    at::ScalarType type) {
  return RmsNorm::apply(x, weight, epsilon, type == at::kBFloat16);
}
at::Tensor turned_heads(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& cosine,
                        const at::Tensor& sine, double epsilon, double factor) {
  return TurnedHeads::apply(x, weight.defined() ? weight : at::empty({0}, cosine.options()),
                            cosine.contiguous(), sine.contiguous(), epsilon, factor);
}
at::Tensor gated(const at::Tensor& gate, const at::Tensor& up) { return Gated::apply(gate, up); }
at::Tensor interval_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                              const at::Tensor& seen) {
  return IntervalAttention::apply(q, k, v, seen);
}

}  // namespace draftlab
