#include "plugins/models/kernels/quantised_products.h"

#include <algorithm>
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

// The product of a few rows with one panel. Sums over all blocks stand in sums[row][16].
struct Job {
  std::int64_t blocks;
  // The panel's scales and numbers.
  const char *weight_scales, *weights;
  // The first row's numbers, scales and excess. Those of the next row follow them.
  const char* x;
  const float* scales;
  const std::int32_t* excess;
};

// A panel's bytes are prefetched so many bytes before their use.
constexpr std::int64_t kAhead = 4096;

namespace plain {

struct Products {
  static constexpr int kRows = 4;

  template <int M>
  static void eight(const Job& job, float (*sums)[16]) {
    for (std::int64_t b = 0; b < job.blocks; ++b) {
      const auto* const w = reinterpret_cast<const std::int8_t*>(job.weights + 512 * b);
      for (int m = 0; m < M; ++m) {
        const auto* const x =
            reinterpret_cast<const std::int8_t*>(job.x + 32 * (m * job.blocks + b));
        std::int32_t inside[16] = {};
        for (int c = 0; c < 8; ++c)
          for (int j = 0; j < 16; ++j)
            for (int i = 0; i < 4; ++i) inside[j] += w[64 * c + 4 * j + i] * x[4 * c + i];
        for (int j = 0; j < 16; ++j) {
          std::uint16_t scale;
          std::memcpy(&scale, job.weight_scales + 32 * b + 2 * j, 2);
          sums[m][j] = std::fma(static_cast<float>(inside[j]),
                                from_half(scale) * job.scales[m * job.blocks + b], sums[m][j]);
        }
      }
    }
  }

  template <int M>
  static void four(const Job& job, float (*sums)[16]) {
    for (std::int64_t b = 0; b < job.blocks; ++b) {
      const auto* const w = reinterpret_cast<const std::uint8_t*>(job.weights + 256 * b);
      for (int m = 0; m < M; ++m) {
        const auto* const x =
            reinterpret_cast<const std::int8_t*>(job.x + 32 * (m * job.blocks + b));
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
          sums[m][j] = std::fma(static_cast<float>(inside[j] + job.excess[m * job.blocks + b]),
                                from_half(scale) * job.scales[m * job.blocks + b], sums[m][j]);
        }
      }
    }
  }
};

}  // namespace plain

// Prefetches a block's share of what follows, scales included, into the second-level cache: more
// can be on its way there than to the first level.
template <int kBytes>
inline void prefetch(const Job& job, std::int64_t block) {
  const char* const from = job.weight_scales + kAhead + block * (kBytes + 32);
#pragma GCC unroll 9
  for (int at = 0; at < kBytes + 32; at += 64) __builtin_prefetch(from + at, 0, 2);
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
  static void eight(const Job& job, float (*sums)[16]) {
    const __m256i ones = _mm256_set1_epi16(1);
    for (std::int64_t b = 0; b < job.blocks; ++b) {
      const char* const w = job.weights + 512 * b;
      const char* const x = job.x + 32 * b;
      prefetch<512>(job, b);
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
            const __m256i inputs =
                _mm256_sign_epi8(broadcast(x + 32 * m * job.blocks + 4 * c), weights);
            inside[m][half] = _mm256_add_epi32(
                inside[m][half], _mm256_madd_epi16(_mm256_maddubs_epi16(sizes, inputs), ones));
          }
        }
      }
      for (int half = 0; half < 2; ++half) {
        const __m256 weight_scales = half_scales(job.weight_scales + 32 * b + 16 * half);
        for (int m = 0; m < M; ++m)
          add_block(inside[m][half], weight_scales, job.scales[m * job.blocks + b],
                    sums[m] + 8 * half);
      }
    }
  }

  template <int M>
  static void four(const Job& job, float (*sums)[16]) {
    const __m256i low_half = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1);
    for (std::int64_t b = 0; b < job.blocks; ++b) {
      const char* const w = job.weights + 256 * b;
      const char* const x = job.x + 32 * b;
      prefetch<256>(job, b);
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
            const __m256i inputs = broadcast(x + 32 * m * job.blocks + 4 * c + 16 * half);
            inside[m][0] = _mm256_add_epi16(inside[m][0], _mm256_maddubs_epi16(one, inputs));
            inside[m][1] = _mm256_add_epi16(inside[m][1], _mm256_maddubs_epi16(two, inputs));
          }
        }
      }
      for (int half = 0; half < 2; ++half) {
        const __m256 weight_scales = half_scales(job.weight_scales + 32 * b + 16 * half);
        for (int m = 0; m < M; ++m)
          add_block(_mm256_add_epi32(_mm256_madd_epi16(inside[m][half], ones),
                                     _mm256_set1_epi32(job.excess[m * job.blocks + b])),
                    weight_scales, job.scales[m * job.blocks + b], sums[m] + 8 * half);
      }
    }
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

// Returns a row's sums with what a block adds to them.
inline __m512 add_block(__m512i inside, __m512 weight_scales, float scale, __m512 sums) {
  const __m512 factor = _mm512_mul_ps(weight_scales, _mm512_set1_ps(scale));
  return _mm512_fmadd_ps(_mm512_cvtepi32_ps(inside), factor, sums);
}

inline __m512 half_scales(const char* from) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

// With few rows a sum is kept in several chains, because each addition waits for the one before it.
template <int M>
constexpr int kChains = M == 1   ? 4
                        : M <= 3 ? 2
                                 : 1;

// Begins the sums of a block.
template <int M, int C>
inline void start_sums(const Job& job, std::int64_t block, __m512i (&inside)[M][C]) {
  for (int m = 0; m < M; ++m) {
    inside[m][0] = _mm512_set1_epi32(job.excess[m * job.blocks + block]);
    for (int c = 1; c < C; ++c) inside[m][c] = _mm512_setzero_si512();
  }
}

struct Products {
  static constexpr int kRows = 8;

  template <int M>
  static void eight(const Job& job, float (*sums)[16]) {
    constexpr int C = kChains<M>;
    // Added to a weight, this makes it a number in [0, 255].
    const __m512i sign = _mm512_set1_epi8(-128);
    __m512 totals[M];
    for (int m = 0; m < M; ++m) totals[m] = _mm512_loadu_ps(sums[m]);
    for (std::int64_t b = 0; b < job.blocks; ++b) {
      const char* const w = job.weights + 512 * b;
      const char* const x = job.x + 32 * b;
      prefetch<512>(job, b);
      __m512i inside[M][C];
      start_sums(job, b, inside);
      for (int c = 0; c < 8; ++c) {
        const __m512i weights = _mm512_xor_si512(_mm512_loadu_si512(w + 64 * c), sign);
        for (int m = 0; m < M; ++m)
          inside[m][c % C] = _mm512_dpbusd_epi32(inside[m][c % C], weights,
                                                 broadcast(x + 32 * m * job.blocks + 4 * c));
      }
      const __m512 weight_scales = half_scales(job.weight_scales + 32 * b);
      for (int m = 0; m < M; ++m) {
        for (int c = 1; c < C; ++c) inside[m][0] = _mm512_add_epi32(inside[m][0], inside[m][c]);
        totals[m] =
            add_block(inside[m][0], weight_scales, job.scales[m * job.blocks + b], totals[m]);
      }
    }
    for (int m = 0; m < M; ++m) _mm512_storeu_ps(sums[m], totals[m]);
  }

  template <int M>
  static void four(const Job& job, float (*sums)[16]) {
    constexpr int C = kChains<M>;
    const __m512i low_half = _mm512_set1_epi8(15);
    __m512 totals[M];
    for (int m = 0; m < M; ++m) totals[m] = _mm512_loadu_ps(sums[m]);
    for (std::int64_t b = 0; b < job.blocks; ++b) {
      const char* const w = job.weights + 256 * b;
      const char* const x = job.x + 32 * b;
      prefetch<256>(job, b);
      __m512i inside[M][C];
      start_sums(job, b, inside);
      for (int c = 0; c < 4; ++c) {
        const __m512i both = _mm512_loadu_si512(w + 64 * c);
        const __m512i low = _mm512_and_si512(both, low_half),
                      high = _mm512_and_si512(_mm512_srli_epi16(both, 4), low_half);
        for (int m = 0; m < M; ++m) {
          const char* const at = x + 32 * m * job.blocks + 4 * c;
          __m512i &first = inside[m][2 * c % C], &second = inside[m][(2 * c + 1) % C];
          first = _mm512_dpbusd_epi32(first, low, broadcast(at));
          second = _mm512_dpbusd_epi32(second, high, broadcast(at + 16));
        }
      }
      const __m512 weight_scales = half_scales(job.weight_scales + 32 * b);
      for (int m = 0; m < M; ++m) {
        for (int c = 1; c < C; ++c) inside[m][0] = _mm512_add_epi32(inside[m][0], inside[m][c]);
        totals[m] =
            add_block(inside[m][0], weight_scales, job.scales[m * job.blocks + b], totals[m]);
      }
    }
    for (int m = 0; m < M; ++m) _mm512_storeu_ps(sums[m], totals[m]);
  }
};

}  // namespace vnni
#pragma GCC pop_options
#endif

using Some = void (*)(const Job&, float (*)[16]);

template <class Products, int... M>
void multiply_some(Layout layout, const Job& job, std::int64_t rows, float (*sums)[16],
                   std::integer_sequence<int, M...>) {
  constexpr Some kEight[] = {Products::template eight<M + 1>...},
                 kFour[] = {Products::template four<M + 1>...};
  (layout == Layout::q8 ? kEight : kFour)[rows - 1](job, sums);
}

// A panel is read once for each group of up to kRows rows; groups are as equal as they can be.
template <class Products>
void multiply(const PackedView& linear, const QuantisedRows& x, float* y, std::int64_t begin,
              std::int64_t end) {
  constexpr int kRows = Products::kRows;
  const std::int64_t rows = x.rows(), groups = (rows + kRows - 1) / kRows;
  alignas(64) float sums[kRows][16];
  for (std::int64_t panel = begin; panel < end; ++panel) {
    const char* const from = static_cast<const char*>(linear.panels) + panel * linear.stride;
    const std::int64_t first = 16 * panel, count = std::min<std::int64_t>(16, linear.out - first);
    for (std::int64_t group = 0; group < groups; ++group) {
      const std::int64_t row = rows * group / groups, many = rows * (group + 1) / groups - row;
      for (std::int64_t m = 0; m < many; ++m) {
        if (linear.bias)
          std::copy_n(linear.bias + first, 16, sums[m]);
        else
          std::fill_n(sums[m], 16, 0.0f);
      }
      const Job job{x.blocks(),     from,          from + scale_bytes(x.blocks()),
                    x.numbers(row), x.scales(row), x.excess(row)};
      multiply_some<Products>(linear.layout, job, many, sums,
                              std::make_integer_sequence<int, kRows>());
      for (std::int64_t m = 0; m < many; ++m)
        std::copy_n(sums[m], count, y + (row + m) * linear.out + first);
    }
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
