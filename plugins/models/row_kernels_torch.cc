#include "plugins/models/row_kernels_torch.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "plugins/models/lanes.h"

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors stay inside this file

namespace draftlab {
namespace {

struct RowKernels {
  using Multiply = void (*)(const PackedView&, const float* x, std::int64_t rows, float* y, std::int64_t begin, std::int64_t end);
  Multiply multiply_f32, multiply_bf16;
  void (*gated)(const float* gate, const float* up, std::int64_t count, float* out);
};

#if defined(__x86_64__)
namespace avx512 {
constexpr int kRows = 10, kPanels = 2;
#pragma GCC push_options
#pragma GCC target("arch=skylake-avx512")
#include "plugins/models/row_kernels.inc"
#pragma GCC pop_options
}  // namespace avx512
namespace avx2 {
constexpr int kRows = 5, kPanels = 1;
#pragma GCC push_options
#pragma GCC target("arch=haswell")
#include "plugins/models/row_kernels.inc"
#pragma GCC pop_options
}  // namespace avx2
#endif
namespace plain {
constexpr int kRows = 2, kPanels = 1;
#include "plugins/models/row_kernels.inc"
}  // namespace plain

const RowKernels& kernels() {
#if defined(__x86_64__)
  static const RowKernels& chosen = __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") ? avx512::kKernels
                                    : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? avx2::kKernels
                                                                                                      : plain::kKernels;
  return chosen;
#else
  return plain::kKernels;
#endif
}

}  // namespace

PackedLinear::PackedLinear(const at::Tensor& weight, const at::Tensor& bias, bool bf16) : bf16_(bf16) {
  const std::int64_t out = weight.size(0), in = weight.size(1), panels = (out + 15) / 16;
  bias_ = at::zeros({panels * 16});
  if (bias.defined()) bias_.narrow(0, 0, out).copy_(bias);
  panels_ = at::empty({panels, in, 16}, bf16 ? at::kBFloat16 : at::kFloat);
  at::parallel_for(0, panels, 8, [&](std::int64_t begin, std::int64_t end) {
    const at::NoGradGuard no_grad;
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t rows = std::min<std::int64_t>(16, out - 16 * p);
      const at::Tensor panel = panels_.select(0, p);
      if (rows < 16) panel.zero_();
      panel.narrow(1, 0, rows).copy_(weight.narrow(0, 16 * p, rows).t());
    }
  });
  view_ = {in, out, panels_.data_ptr(), bias_.data_ptr<float>(), 16 * in};
}

void PackedLinear::apply(const float* x, std::int64_t rows, float* y) const {
  if (rows == 0) return;
  const auto multiply = bf16_ ? kernels().multiply_bf16 : kernels().multiply_f32;
  at::parallel_for(0, panels_.size(0), 4, [&](std::int64_t begin, std::int64_t end) { multiply(view_, x, rows, y, begin, end); });
}

void PackedLinear::weights_of(std::int64_t output, float* weights) const {
  const std::int64_t from = output / 16 * view_.stride + output % 16;
  if (bf16_) for (std::int64_t i = 0; i < view_.in; ++i) weights[i] = widen(static_cast<const std::uint16_t*>(view_.panels)[from + 16 * i]);
  else for (std::int64_t i = 0; i < view_.in; ++i) weights[i] = static_cast<const float*>(view_.panels)[from + 16 * i];
}

void product(const PackedView& linear, const float* x, std::int64_t rows, float* y) {
  kernels().multiply_f32(linear, x, rows, y, 0, (linear.out + 15) / 16);
}

void gated(const float* gate, const float* up, std::int64_t count, float* out) { kernels().gated(gate, up, count, out); }

}  // namespace draftlab
