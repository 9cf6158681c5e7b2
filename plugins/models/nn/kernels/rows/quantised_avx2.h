// Quantised products by AVX2: pairs of eight bits are multiplied into sixteen.
#pragma once

#include <immintrin.h>

#include "plugins/models/nn/kernels/rows/quantised_job.h"

namespace draftlab::quantised {

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif
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
  static void q8(const Job& job) {
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
  static void q4(const Job& job) {
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
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

}  // namespace draftlab::quantised
