// What the quantised products of every instruction set share: what one of them is given, sums that
// stand in memory, and prefetching.
#pragma once

#include <algorithm>
#include <cstdint>

namespace draftlab::quantised {

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

// Prefetches what the next panels have in the place of a block of kBytes and its scales, into the
// second-level cache: more can be on its way there than to the first. It is always inlined: GCC
// takes a function that only prefetches for one without effect, and leaves out the calls of it.
template <int kBytes, int P>
inline __attribute__((always_inline)) void prefetch(const Job& job, std::int64_t block) {
  for (int p = P; p < 2 * P; ++p) {
    const char* const from = job.weight_scales + p * job.stride + block * (kBytes + 32);
#pragma GCC unroll 9
    for (int at = 0; at < kBytes + 32; at += 64) __builtin_prefetch(from + at, 0, 2);
  }
}

}  // namespace draftlab::quantised
