#include "plugins/models/kernels/rows/quantised_products.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// GCC 12's own headers of AVX-512 pass a register on purpose that nothing was written to.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"

namespace draftlab {
namespace {

// The product of M rows with P neighbouring panels.
struct Job {
  // The blocks of a row, and how many rows stand in x.
  std::int64_t blocks, rows;
  // The bytes from one panel to the next.
  std::int64_t stride;
  // The first panel's scales and numbers.
  const char *weight_scales, *weights;
  // The first row's numbers, scales and excess of the first block. Those of the next row follow
  // them, and those of the next block follow all rows.
  const char* x;
  const float* scales;
  const std::int32_t* excess;
  // The panels' bias, or null.
  const float* bias;
  // Where the first row's first output goes, how many lie from one row to the next, and how many of
  // the panels' outputs there are.
  float* y;
  std::int64_t width, outputs;
};

// Sums of one panel over its blocks, for processors that keep them in memory.
template <int M>
struct Sums {
  alignas(64) float of[M][16];
  explicit Sums(const Job& job) {
    for (float(&row)[16] : of)
      for (int j = 0; j < 16; ++j) row[j] = job.bias ? job.bias[j] : 0;
  }
  void store(const Job& job) const {
    for (int m = 0; m < M; ++m) std::copy_n(of[m], job.outputs, job.y + m * job.width);
  }
};

namespace plain {

struct Products {
  static constexpr int kRows = 4;
  template <int M>
  static constexpr int kPanels = 1;

  template <int M, int P>
  static void eight(const Job& job) {
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
  static void four(const Job& job) {
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

}  // namespace plain

// Prefetches what the next panels have in the place of a block of kBytes and its scales, into the
// second-level cache: more can be on its way there than to the first.
template <int kBytes, int P>
inline void prefetch(const Job& job, std::int64_t block) {
  for (int p = P; p < 2 * P; ++p) {
    const char* const from = job.weight_scales + p * job.stride + block * (kBytes + 32);
#pragma GCC unroll 9
    for (int at = 0; at < kBytes + 32; at += 64) __builtin_prefetch(from + at, 0, 2);
  }
}

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
namespace avx2 {

inline __m256i broadcast(const char* from) {
  std::int32_t bits;
  __builtin_memcpy(&bits, from, 4);
  return _mm256_set1_epi32(bits);
}

// Adds what a block adds to the sums of eight outputs of a row.
inline void add_block(__m256i inside, __m256 weight_scales, float scale, float* sums) {
  const __m256 factor = _mm256_mul_ps(weight_scales, _mm256_set1_ps(scale));
  _mm256_storeu_ps(sums,
                   _mm256_fmadd_ps(_mm256_cvtepi32_ps(inside), factor, _mm256_loadu_ps(sums)));
}

inline __m256 half_scales(const char* from) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

struct Products {
  static constexpr int kRows = 4;
  template <int M>
  static constexpr int kPanels = 1;

  template <int M, int P>
  static void eight(const Job& job) {
    Sums<M> sums(job);
    const __m256i ones = _mm256_set1_epi16(1);
    for (std::int64_t b = 0; b < job.blocks; ++b) {
      const char* const w = job.weights + 512 * b;
      const char* const x = job.x + 32 * b * job.rows;
      prefetch<512, P>(job, b);
      __m256i inside[M][2];
      for (int m = 0; m < M; ++m) inside[m][0] = inside[m][1] = _mm256_setzero_si256();
      for (int c = 0; c < 8; ++c) {
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half) {
          const __m256i weights =
              _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w + 64 * c + 32 * half));
          // One factor must not be negative: the weight gives the other its sign.
          const __m256i sizes = _mm256_abs_epi8(weights);
          for (int m = 0; m < M; ++m) {
            const __m256i inputs = _mm256_sign_epi8(broadcast(x + 32 * m + 4 * c), weights);
            inside[m][half] = _mm256_add_epi32(
                inside[m][half], _mm256_madd_epi16(_mm256_maddubs_epi16(sizes, inputs), ones));
          }
        }
      }
      for (int half = 0; half < 2; ++half) {
        const __m256 weight_scales = half_scales(job.weight_scales + 32 * b + 16 * half);
        for (int m = 0; m < M; ++m)
          add_block(inside[m][half], weight_scales, job.scales[b * job.rows + m],
                    sums.of[m] + 8 * half);
      }
    }
    sums.store(job);
  }

  template <int M, int P>
  static void four(const Job& job) {
    Sums<M> sums(job);
    const __m256i low_half = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1);
    for (std::int64_t b = 0; b < job.blocks; ++b) {
      const char* const w = job.weights + 256 * b;
      const char* const x = job.x + 32 * b * job.rows;
      prefetch<256, P>(job, b);
      // Sixteen products of at most 15 * 127 fit into sixteen bits.
      __m256i inside[M][2];
      for (int m = 0; m < M; ++m) inside[m][0] = inside[m][1] = _mm256_setzero_si256();
#pragma GCC unroll 4
      for (int c = 0; c < 4; ++c) {
        const auto* const at = reinterpret_cast<const __m256i*>(w + 64 * c);
        const __m256i first = _mm256_loadu_si256(at), second = _mm256_loadu_si256(at + 1);
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half) {
          const __m256i one =
                            _mm256_and_si256(half ? _mm256_srli_epi16(first, 4) : first, low_half),
                        two = _mm256_and_si256(half ? _mm256_srli_epi16(second, 4) : second,
                                               low_half);
          for (int m = 0; m < M; ++m) {
            const __m256i inputs = broadcast(x + 32 * m + 4 * c + 16 * half);
            inside[m][0] = _mm256_add_epi16(inside[m][0], _mm256_maddubs_epi16(one, inputs));
            inside[m][1] = _mm256_add_epi16(inside[m][1], _mm256_maddubs_epi16(two, inputs));
          }
        }
      }
      for (int half = 0; half < 2; ++half) {
        const __m256 weight_scales = half_scales(job.weight_scales + 32 * b + 16 * half);
        for (int m = 0; m < M; ++m)
          add_block(_mm256_add_epi32(_mm256_madd_epi16(inside[m][half], ones),
                                     _mm256_set1_epi32(job.excess[b * job.rows + m])),
                    weight_scales, job.scales[b * job.rows + m], sums.of[m] + 8 * half);
      }
    }
    sums.store(job);
  }
};

}  // namespace avx2
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512vnni")
namespace vnni {

inline __m512i broadcast(const char* from) {
  std::int32_t bits;
  __builtin_memcpy(&bits, from, 4);
  return _mm512_set1_epi32(bits);
}

inline __m512 half_scales(const char* from) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

struct Products {
  static constexpr int kRows = 8;
  // A single row reads several panels at once, because each addition waits for the one before it.
  template <int M>
  static constexpr int kPanels = M == 1 ? 4 : 1;

  template <int M, int P>
  static void begin(const Job& job, __m512 (&totals)[M][P]) {
    for (int p = 0; p < P; ++p) {
      const __m512 bias = job.bias ? _mm512_loadu_ps(job.bias + 16 * p) : _mm512_setzero_ps();
      for (int m = 0; m < M; ++m) totals[m][p] = bias;
    }
  }
  template <int M, int P>
  static void store(const Job& job, const __m512 (&totals)[M][P]) {
    for (int p = 0; p < P; ++p) {
      const std::int64_t rest = job.outputs - 16 * p;
      const __mmask16 there = rest < 16 ? (1u << rest) - 1 : 0xffff;
      for (int m = 0; m < M; ++m)
        _mm512_mask_storeu_ps(job.y + m * job.width + 16 * p, there, totals[m][p]);
    }
  }

  // Begins the sums of a block, adds what `add` does to them, and adds all to the totals.
  template <int M, int P, class Add>
  static void one_block(const Job& job, std::int64_t b, __m512 (&totals)[M][P], const Add& add) {
    __m512i inside[M][P];
    for (int m = 0; m < M; ++m)
      for (int p = 0; p < P; ++p) inside[m][p] = _mm512_set1_epi32(job.excess[b * job.rows + m]);
    add(inside);
    for (int p = 0; p < P; ++p) {
      const __m512 weight_scales = half_scales(job.weight_scales + p * job.stride + 32 * b);
      for (int m = 0; m < M; ++m) {
        const __m512 factor =
            _mm512_mul_ps(weight_scales, _mm512_set1_ps(job.scales[b * job.rows + m]));
        totals[m][p] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(inside[m][p]), factor, totals[m][p]);
      }
    }
  }

  template <int M, int P>
  static void eight(const Job& job) {
    // Added to a weight, this makes it a number in [0, 255].
    const __m512i sign = _mm512_set1_epi8(-128);
    __m512 totals[M][P];
    begin(job, totals);
    for (std::int64_t b = 0; b < job.blocks; ++b) {
      const char* const w = job.weights + 512 * b;
      const char* const x = job.x + 32 * b * job.rows;
      prefetch<512, P>(job, b);
      one_block(job, b, totals, [&](__m512i(&inside)[M][P]) {
        for (int c = 0; c < 8; ++c) {
          for (int p = 0; p < P; ++p) {
            const __m512i weights =
                _mm512_xor_si512(_mm512_loadu_si512(w + p * job.stride + 64 * c), sign);
            for (int m = 0; m < M; ++m)
              inside[m][p] =
                  _mm512_dpbusd_epi32(inside[m][p], weights, broadcast(x + 32 * m + 4 * c));
          }
        }
      });
    }
    store(job, totals);
  }

  template <int M, int P>
  static void four(const Job& job) {
    const __m512i low_half = _mm512_set1_epi8(15);
    __m512 totals[M][P];
    begin(job, totals);
    for (std::int64_t b = 0; b < job.blocks; ++b) {
      const char* const w = job.weights + 256 * b;
      const char* const x = job.x + 32 * b * job.rows;
      prefetch<256, P>(job, b);
      one_block(job, b, totals, [&](__m512i(&inside)[M][P]) {
        for (int c = 0; c < 4; ++c) {
          for (int p = 0; p < P; ++p) {
            const __m512i both = _mm512_loadu_si512(w + p * job.stride + 64 * c);
            const __m512i low = _mm512_and_si512(both, low_half),
                          high = _mm512_and_si512(_mm512_srli_epi16(both, 4), low_half);
            for (int m = 0; m < M; ++m) {
              const char* const at = x + 32 * m + 4 * c;
              inside[m][p] = _mm512_dpbusd_epi32(inside[m][p], low, broadcast(at));
              inside[m][p] = _mm512_dpbusd_epi32(inside[m][p], high, broadcast(at + 16));
            }
          }
        }
      });
    }
    store(job, totals);
  }
};

}  // namespace vnni
#pragma GCC pop_options
#endif

using Some = void (*)(const Job&);

// What multiplies so many rows, in each layout: with several panels, and with one.
struct Few {
  int panels;
  Some eight, four, eight_alone, four_alone;
};
template <class Products, int... M>
constexpr std::array<Few, sizeof...(M)> few(std::integer_sequence<int, M...>) {
  return {Few{Products::template kPanels<M + 1>,
              Products::template eight<M + 1, Products::template kPanels<M + 1>>,
              Products::template four<M + 1, Products::template kPanels<M + 1>>,
              Products::template eight<M + 1, 1>, Products::template four<M + 1, 1>}...};
}

// Panels are read once for each group of up to kRows rows; groups are as equal as they can be.
template <class Products>
void multiply(const PackedView& linear, const QuantisedRows& x, float* y, std::int64_t begin,
              std::int64_t end) {
  constexpr int kRows = Products::kRows;
  static constexpr auto kFew = few<Products>(std::make_integer_sequence<int, kRows>());
  const std::int64_t rows = x.rows(), groups = (rows + kRows - 1) / kRows;
  const bool q8 = linear.layout == Layout::q8;
  for (std::int64_t panel = begin; panel < end;) {
    const std::int64_t wanted = kFew[(rows + groups - 1) / groups - 1].panels,
                       panels = panel + wanted <= end ? wanted : 1;
    const char* const from = static_cast<const char*>(linear.panels) + panel * linear.stride;
    for (std::int64_t group = 0; group < groups; ++group) {
      const std::int64_t row = rows * group / groups, many = rows * (group + 1) / groups - row;
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
        (q8 ? own.eight : own.four)(job);
      else
        (q8 ? own.eight_alone : own.four_alone)(job);
    }
    panel += panels;
  }
}

}  // namespace

const std::vector<QuantisedKernel>& quantised_kernels() {
  static const std::vector<QuantisedKernel> kernels = [] {
    std::vector<QuantisedKernel> all;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
      all.push_back({"vnni", multiply<vnni::Products>});
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("f16c"))
      all.push_back({"avx2", multiply<avx2::Products>});
#endif
    all.push_back({"plain", multiply<plain::Products>});
    return all;
  }();
  return kernels;
}

}  // namespace draftlab
