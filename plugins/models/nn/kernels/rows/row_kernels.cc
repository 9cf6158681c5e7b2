#include "plugins/models/nn/kernels/rows/row_kernels.h"

#include <algorithm>
#include <vector>

#include "plugins/models/nn/kernels/rows/bf16_products.h"
#include "plugins/models/nn/kernels/rows/instructions.h"
#include "plugins/models/nn/kernels/rows/lanes.h"

#pragma GCC diagnostic ignored "-Wpsabi"  // Vectors stay inside this file.

namespace draftlab {
namespace {

struct RowKernels {
  using Multiply = void (*)(const PackedView&, FloatRows x, float* y, IndexRange panels);
  Multiply multiply_f32, multiply_bf16;
  void (*gated)(const float* gate, const float* up, std::int64_t count, float* out);
};

#if defined(__x86_64__)
namespace avx512 {
constexpr int kRows = 10, kPanels = 2, kLanes = 16;
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("arch=skylake-avx512"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("arch=skylake-avx512")
#endif
#include "plugins/models/nn/kernels/rows/row_kernels.inc"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
}  // namespace avx512
namespace avx2 {
constexpr int kRows = 5, kPanels = 1, kLanes = 8;
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("arch=haswell"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("arch=haswell")
#endif
#include "plugins/models/nn/kernels/rows/row_kernels.inc"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
}  // namespace avx2
#endif
namespace plain {
constexpr int kRows = 2, kPanels = 1, kLanes = 4;
#include "plugins/models/nn/kernels/rows/row_kernels.inc"
}  // namespace plain

const RowKernels& kernels() {
#if defined(__x86_64__)
  static const RowKernels& chosen = instructions() == Instructions::avx512 ? avx512::kKernels
                                    : instructions() == Instructions::avx2 ? avx2::kKernels
                                                                           : plain::kKernels;
  return chosen;
#else
  return plain::kKernels;
#endif
}

}  // namespace

void multiply_panels(const PackedView& linear, FloatRows x, float* y, IndexRange panels) {
  (linear.layout == Layout::bf16 ? kernels().multiply_bf16 : kernels().multiply_f32)(linear, x, y,
                                                                                     panels);
}

void product(const PackedView& linear, FloatRows x, float* y) {
  if (linear.layout != Layout::tiles) return multiply_panels(linear, x, y, {0, linear.count()});
  thread_local std::vector<char> tiles;
  tiles.resize(tiled_bytes(x.count, linear.in));
  tile_rows(x, linear.in, {0, tiled_count(x.count)}, tiles.data());
  multiply_tiles(linear, {tiles.data(), x.count}, y, {0, (linear.count() + 1) / 2});
}

void fetch(const PackedView& linear) {
  // Both are counted in bytes.
  constexpr std::int64_t kMost = 16 << 10, kLine = 64;
  const std::int64_t size = linear.layout == Layout::f32 ? 4 : 2, panel = 16 * linear.in * size;
  for (std::int64_t p = 0; p < linear.count() && p * panel < kMost; ++p) {
    const char* const from = static_cast<const char*>(linear.panels) + p * linear.stride * size;
    for (std::int64_t at = 0; at < std::min(panel, kMost); at += kLine)
      __builtin_prefetch(from + at);
  }
}

void exact_gelu(float* x, std::int64_t count) {
  on_widest([&] {
    for (std::int64_t i = 0; i < count; ++i)
      x[i] = 0.5f * x[i] * (1 + error_function(0.7071067812f * x[i]));
  });
}

void gated(const float* gate, const float* up, std::int64_t count, float* out) {
  kernels().gated(gate, up, count, out);
}

}  // namespace draftlab
