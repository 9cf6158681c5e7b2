// Quantised products by AVX-512's dot products of four numbers of eight bits.
#pragma once

#include <immintrin.h>

#include <algorithm>

#include "plugins/models/nn/kernels/rows/quantised_job.h"

// GCC 12's own headers of AVX-512 pass a register on purpose that nothing was written to.
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace draftlab::quantised {

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512vnni")
#endif
namespace vnni {

inline __m512i broadcast(const char* from) {
  std::int32_t bits;
  __builtin_memcpy(&bits, from, 4);
  return _mm512_set1_epi32(bits);
}

inline __m512 half_scales(const char* from) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

// Prefetches a block's numbers of four bits into the first-level cache, two blocks before they are
// read. Numbers of eight bits are twice as many, and fetching them so made products slower.
template <int P>
inline __attribute__((always_inline)) void approach(const Job& job, std::int64_t block) {
  for (int p = 0; p < P; ++p) {
    const char* const from = job.weights + p * job.stride + 256 * (block + 2);
#pragma GCC unroll 4
    for (int at = 0; at < 256; at += 64) __builtin_prefetch(from + at);
  }
}

struct Products {
  static constexpr int kRows = 8;
  // A single row reads several panels at once, because each addition waits for the one before it.
  // Four rows or more read two, so that each of their numbers is read once for both; rows that are
  // multiplied in several groups are at least four in each.
  template <int M>
  static constexpr int kPanels = M == 1  ? 4
                                 : M < 4 ? 1
                                         : 2;
  // The sums of a block that are added up at once; more do not stand in registers beside the
  // totals.
  static constexpr int kSums = 8;

  // Outputs are fetched before they are written: the stores of many rows, each a miss, would hold
  // up those behind them.
  template <int M, int P>
  static void begin(const Job& job, __m512 (&totals)[M][P]) {
    for (int p = 0; p < P; ++p) {
      const __m512 bias = job.bias ? _mm512_loadu_ps(job.bias + 16 * p) : _mm512_setzero_ps();
      for (int m = 0; m < M; ++m) {
        if constexpr (M > 1) __builtin_prefetch(job.y + m * job.width + 16 * p, 1);
        totals[m][p] = bias;
      }
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

  // Returns what the sums of a block are multiplied by. Scaling by a power of two takes no place
  // among the products.
  template <bool kPowers>
  static __m512 factor(__m512 weight_scales, float scale) {
    const __m512 all = _mm512_set1_ps(scale);
    if constexpr (kPowers) return _mm512_scalef_ps(weight_scales, _mm512_getexp_ps(all));
    return _mm512_mul_ps(weight_scales, all);
  }

  // Adds a block to the totals, some rows at a time: begins their sums, adds to them what `add`
  // does from row First on, and adds them up.
  template <bool kPowers, int First = 0, int M, int P, class Add>
  static void one_block(const Job& job, std::int64_t b, __m512 (&totals)[M][P], const Add& add) {
    constexpr int kSome = std::min(M - First, kSums / P);
    __m512i sums[kSome][P];
    for (int m = 0; m < kSome; ++m)
      for (int p = 0; p < P; ++p)
        sums[m][p] = _mm512_set1_epi32(job.excess[b * job.rows + First + m]);
    add(sums, First);
    for (int p = 0; p < P; ++p) {
      const __m512 weight_scales = half_scales(job.weight_scales + p * job.stride + 32 * b);
      for (int m = 0; m < kSome; ++m) {
        __m512& total = totals[First + m][p];
        total = _mm512_fmadd_ps(
            _mm512_cvtepi32_ps(sums[m][p]),
            factor<kPowers>(weight_scales, job.scales[b * job.rows + First + m]), total);
      }
    }
    if constexpr (First + kSome < M) one_block<kPowers, First + kSome>(job, b, totals, add);
  }

  template <int M, int P>
  static void q8(const Job& job) {
    // Added to a weight, this makes it a number in [0, 255].
    const __m512i sign = _mm512_set1_epi8(-128);
    __m512 totals[M][P];
    begin(job, totals);
    for (std::int64_t b = 0; b < job.blocks; ++b) {
      prefetch<512, P>(job, b);
      one_block<false>(job, b, totals, [&]<int N>(__m512i(&sums)[N][P], int first) {
        const char* const w = job.weights + 512 * b;
        const char* const x = job.x + 32 * (b * job.rows + first);
        for (int c = 0; c < 8; ++c) {
          __m512i weights[P];
          for (int p = 0; p < P; ++p)
            weights[p] = _mm512_xor_si512(_mm512_loadu_si512(w + p * job.stride + 64 * c), sign);
          for (int m = 0; m < N; ++m) {
            const __m512i inputs = broadcast(x + 32 * m + 4 * c);
            for (int p = 0; p < P; ++p)
              sums[m][p] = _mm512_dpbusd_epi32(sums[m][p], weights[p], inputs);
          }
        }
      });
    }
    store(job, totals);
  }

  template <int M, int P>
  static void q4(const Job& job) {
    const __m512i low_half = _mm512_set1_epi8(15);
    __m512 totals[M][P];
    begin(job, totals);
    for (std::int64_t b = 0; b < job.blocks; ++b) {
      prefetch<256, P>(job, b);
      if constexpr (M >= 4) approach<P>(job, b);
      one_block<true>(job, b, totals, [&]<int N>(__m512i(&sums)[N][P], int first) {
        const char* const w = job.weights + 256 * b;
        const char* const x = job.x + 32 * (b * job.rows + first);
        for (int c = 0; c < 8; ++c) {
          const bool high = c >= 4;
          __m512i weights[P];
          for (int p = 0; p < P; ++p) {
            const __m512i both = _mm512_loadu_si512(w + p * job.stride + 64 * (c % 4));
            weights[p] = _mm512_and_si512(high ? _mm512_srli_epi16(both, 4) : both, low_half);
          }
          for (int m = 0; m < N; ++m) {
            const __m512i inputs = broadcast(x + 32 * m + 4 * c);
            for (int p = 0; p < P; ++p)
              sums[m][p] = _mm512_dpbusd_epi32(sums[m][p], weights[p], inputs);
          }
        }
      });
    }
    store(job, totals);
  }
};

}  // namespace vnni
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

}  // namespace draftlab::quantised
