#include "plugins/models/nn/kernels/rows/quantised_products.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "plugins/models/nn/kernels/rows/instructions.h"
#include "plugins/models/nn/kernels/rows/quantised_job.h"
#if defined(__x86_64__)
#include "plugins/models/nn/kernels/rows/quantised_avx2.h"
#include "plugins/models/nn/kernels/rows/quantised_vnni.h"
#endif

namespace draftlab {
namespace quantised {

namespace plain {
namespace {

struct Products {
  static constexpr int kRows = 4;
  template <int M>
  static constexpr int kPanels = 1;

  template <int M, int P>
  static void q8(const Job& job) {
    Sums<M> sums(job);
    for (std::int64_t b = 0; b < job.blocks; ++b) {
      const auto* const w = reinterpret_cast<const std::int8_t*>(job.weights + 512 * b);
      for (int m = 0; m < M; ++m) {
        const auto* const x = reinterpret_cast<const std::int8_t*>(job.x + 32 * (b * job.rows + m));
        std::int32_t inside[16] = {};
        for (int c = 0; c < 8; ++c)
          for (int j = 0; j < 16; ++j)
            for (int i = 0; i < 4; ++i) inside[j] += w[64 * c + 4 * j + i] * x[4 * c + i];
        for (int j = 0; j < 16; ++j) {
          std::uint16_t scale;
          std::memcpy(&scale, job.weight_scales + 32 * b + 2 * j, 2);
          sums.of[m][j] = std::fma(static_cast<float>(inside[j]),
                                   from_half(scale) * job.scales[b * job.rows + m], sums.of[m][j]);
        }
      }
    }
    sums.store(job);
  }

  template <int M, int P>
  static void q4(const Job& job) {
    Sums<M> sums(job);
    for (std::int64_t b = 0; b < job.blocks; ++b) {
      const auto* const w = reinterpret_cast<const std::uint8_t*>(job.weights + 256 * b);
      for (int m = 0; m < M; ++m) {
        const auto* const x = reinterpret_cast<const std::int8_t*>(job.x + 32 * (b * job.rows + m));
        std::int32_t inside[16] = {};
        for (int c = 0; c < 4; ++c)
          for (int j = 0; j < 16; ++j)
            for (int i = 0; i < 4; ++i) {
              const std::uint8_t both = w[64 * c + 4 * j + i];
              inside[j] += (both & 15) * x[4 * c + i] + (both >> 4) * x[16 + 4 * c + i];
            }
        for (int j = 0; j < 16; ++j) {
          std::uint16_t scale;
          std::memcpy(&scale, job.weight_scales + 32 * b + 2 * j, 2);
          sums.of[m][j] = std::fma(static_cast<float>(inside[j] + job.excess[b * job.rows + m]),
                                   from_half(scale) * job.scales[b * job.rows + m], sums.of[m][j]);
        }
      }
    }
    sums.store(job);
  }
};

}  // namespace
}  // namespace plain

}  // namespace quantised

namespace {

using quantised::Job;

using Some = void (*)(const Job&);

// What multiplies so many rows, in each layout: with several panels, and with one.
struct Few {
  int panels;
  Some q8, q4, q8_single, q4_single;
};
template <class Products, int... M>
constexpr std::array<Few, sizeof...(M)> few(std::integer_sequence<int, M...>) {
  return {Few{Products::template kPanels<M + 1>,
              Products::template q8<M + 1, Products::template kPanels<M + 1>>,
              Products::template q4<M + 1, Products::template kPanels<M + 1>>,
              Products::template q8<M + 1, 1>, Products::template q4<M + 1, 1>}...};
}

// Panels are read once for each group of up to kRows rows; groups are as equal as they can be.
template <class Products>
void multiply(const PackedView& linear, const QuantisedRows& x, float* y, IndexRange range) {
  constexpr int kRows = Products::kRows;
  static constexpr auto kFew = few<Products>(std::make_integer_sequence<int, kRows>());
  const std::int64_t rows = x.rows(), groups = (rows + kRows - 1) / kRows, fewest = rows / groups,
                     larger = rows % groups;
  const bool q8 = linear.layout == Layout::q8;
  for (std::int64_t panel = range.begin; panel < range.end;) {
    const std::int64_t wanted = kFew[fewest + (larger > 0) - 1].panels,
                       panels = panel + wanted <= range.end ? wanted : 1;
    const char* const from = static_cast<const char*>(linear.panels) + panel * linear.stride;
    for (std::int64_t group = 0, row = 0; group < groups; ++group) {
      const std::int64_t many = fewest + (group < larger);
      const Job job{.blocks = x.blocks(),
                    .rows = rows,
                    .stride = linear.stride,
                    .weight_scales = from,
                    .weights = from + scale_bytes(x.blocks()),
                    .x = x.numbers(row),
                    .scales = x.scales(row),
                    .excess = x.excess(row),
                    .bias = linear.bias ? linear.bias + 16 * panel : nullptr,
                    .y = y + row * linear.out + 16 * panel,
                    .width = linear.out,
                    .outputs = std::min(16 * panels, linear.out - 16 * panel)};
      const Few& own = kFew[many - 1];
      if (panels > 1)
        (q8 ? own.q8 : own.q4)(job);
      else
        (q8 ? own.q8_single : own.q4_single)(job);
      row += many;
    }
    panel += panels;
  }
}

}  // namespace

const std::vector<QuantisedKernel>& quantised_kernels() {
  static const std::vector<QuantisedKernel> kernels = [] {
    std::vector<QuantisedKernel> all;
#if defined(__x86_64__)
    if (instructions() == Instructions::avx512 && __builtin_cpu_supports("avx512vnni"))
      all.push_back({"vnni", multiply<quantised::vnni::Products>});
    if (instructions() >= Instructions::avx2 && converts_halves())
      all.push_back({"avx2", multiply<quantised::avx2::Products>});
#endif
    all.push_back({"plain", multiply<quantised::plain::Products>});
    return all;
  }();
  return kernels;
}

}  // namespace draftlab
