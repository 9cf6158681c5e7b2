// Products of bf16 in vectors of 512 bits, a pair of inputs at a time, in two ways.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstdint>

#include "plugins/models/nn/kernels/rows/bf16_job.h"
#include "plugins/models/nn/kernels/rows/bf16_products.h"

namespace draftlab::bf16 {

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512bf16")
#endif
// For so many rows four panels are read at once, because otherwise each sum would wait for its last
// addition.
constexpr int kFew = 2;

// The part of the next panels that is fetched while a few rows are multiplied, so that reading and
// multiplying go on together.
struct Ahead {
  const char* first;
  // Bytes by which it moves on from one pair of inputs to the next.
  std::int64_t step;
};

// Fills `w` with the numbers of 16 outputs for a pair of inputs, of each panel.
template <int P>
void read_pair(const TileJob& job, Ahead ahead, std::int64_t pair, __m512i (&w)[P]) {
  for (int p = 0; p < P; ++p) {
    // Into the second-level cache: more can be on its way there than to the first.
    __builtin_prefetch(ahead.first + p * job.panel_bytes + pair * ahead.step, 0, 2);
    w[p] = _mm512_loadu_si512(job.first + p * job.panel_bytes + 64 * pair);
  }
}

// Two ways to multiply a few rows, from `row` on, a pair of inputs at a time. This one has an
// instruction for the sum of both products.
struct Paired {
  static constexpr int kHeld = 14;  // For so many rows the registers hold the sums of two panels.

  template <int M, int P>
  static void add(const TileJob& job, std::int64_t row, Ahead ahead, __m512 (&sums)[M][P]) {
    const char* const rows = (row < 16 ? job.upper : job.lower) + 64 * (row % 16);
    for (std::int64_t c = 0; c < job.chunks; ++c) {
      const char* const x = rows + kTileBytes * c;
      for (int pair = 0; pair < 16; ++pair) {
        __m512i w[P];
        read_pair(job, ahead, 16 * c + pair, w);
        for (int m = 0; m < M; ++m) {
          std::int32_t two;
          __builtin_memcpy(&two, x + 64 * m + 4 * pair, sizeof two);
          const auto inputs = (__m512bh)_mm512_set1_epi32(two);
          for (int p = 0; p < P; ++p)
            sums[m][p] = _mm512_dpbf16_ps(sums[m][p], inputs, (__m512bh)w[p]);
        }
      }
    }
  }
};

// This one widens the weights, and multiplies and adds twice, in f32.
struct Widened {
  static constexpr int kHeld = 12;

  template <int M, int P>
  static void add(const TileJob& job, std::int64_t row, Ahead ahead, __m512 (&sums)[M][P]) {
    const std::int64_t in = kTileInputs * job.chunks;
    const float* const x = job.wide + row * in;
    for (std::int64_t i = 0; i < in; i += 2) {
      __m512i w[P];
      read_pair(job, ahead, i / 2, w);
      __m512 first[P], second[P];
      for (int p = 0; p < P; ++p) {
        first[p] = (__m512)((__v16su)w[p] << 16);
        second[p] = (__m512)((__v16su)w[p] & 0xffff0000U);
      }
      for (int m = 0; m < M; ++m) {
        const __m512 one = _mm512_set1_ps(x[m * in + i]), other = _mm512_set1_ps(x[m * in + i + 1]);
        for (int p = 0; p < P; ++p) sums[m][p] = _mm512_fmadd_ps(one, first[p], sums[m][p]);
        for (int p = 0; p < P; ++p) sums[m][p] = _mm512_fmadd_ps(other, second[p], sums[m][p]);
      }
    }
  }
};

template <class Way, int M, int P>
void multiply_rows(const TileJob& job, std::int64_t row, Ahead ahead) {
  __m512 sums[M][P];
  for (int p = 0; p < P; ++p) {
    sums[0][p] = job.bias ? _mm512_loadu_ps(job.bias + 16 * p) : _mm512_setzero_ps();
    for (int m = 1; m < M; ++m) sums[m][p] = sums[0][p];
  }
  Way::add(job, row, ahead, sums);
  for (int m = 0; m < M; ++m)
    for (int p = 0; p < P; ++p)
      _mm512_storeu_ps(job.y + (row + m) * job.stride + 16 * p, sums[m][p]);
}

template <class Way, int P, int M = (P > 2 ? kFew : Way::kHeld)>
void multiply_some(const TileJob& job, IndexRange rows, Ahead ahead) {
  if constexpr (M > 1)
    if (rows.end - rows.begin < M) return multiply_some<Way, P, M - 1>(job, rows, ahead);
  multiply_rows<Way, M, P>(job, rows.begin, ahead);
}

// The product of up to 32 rows, of which blocks of at most Way::kHeld go together.
template <class Way>
void multiply_by_pairs(const TileJob& job) {
  constexpr void (*kMultiply[])(const TileJob&, IndexRange, Ahead) = {
      multiply_some<Way, 1>, multiply_some<Way, 2>, multiply_some<Way, 3>, multiply_some<Way, 4>};
  const auto blocks = [](std::int64_t rows) { return (rows + Way::kHeld - 1) / Way::kHeld; };
  const std::int64_t upper = std::min<std::int64_t>(16, job.rows),
                     all = blocks(upper) + blocks(job.rows - upper);
  // Each block of rows fetches as many lines.
  Ahead ahead{job.first + job.panels * job.panel_bytes, (64 + all - 1) / all};
  for (const IndexRange strip : {IndexRange{0, upper}, IndexRange{upper, job.rows}}) {
    const std::int64_t many = blocks(strip.end - strip.begin);
    for (std::int64_t block = 0, row = strip.begin; block < many; ++block) {
      const std::int64_t end = strip.begin + (strip.end - strip.begin) * (block + 1) / many;
      kMultiply[job.panels - 1](job, {row, end}, ahead);
      ahead.first += 16 * job.chunks * ahead.step;
      row = end;
    }
  }
}
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

}  // namespace draftlab::bf16
