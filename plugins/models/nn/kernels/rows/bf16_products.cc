#include "plugins/models/nn/kernels/rows/bf16_products.h"

#include <algorithm>
#include <array>

#include "plugins/models/nn/kernels/rows/instructions.h"

#if defined(__x86_64__) && defined(__linux__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace draftlab {
namespace {

constexpr std::int64_t kTileBytes = 1024;
// The bytes of rows that are used at a time, no more than a second-level cache holds.
constexpr std::int64_t kNearBytes = 1 << 20;
// So many blocks of 32 rows, at least, are worth reading the weights again.
constexpr std::int64_t kFewestBlocks = 4;

// Rounds to nearest, with ties to even; not-a-number stays what it is.
__attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16"))) void to_bf16(const float* from,
                                                                             std::int64_t count,
                                                                             std::uint16_t* to) {
  for (std::int64_t i = 0; i < count; i += 16) {
    const auto some = static_cast<__mmask16>(count - i >= 16 ? 0xffff : (1 << (count - i)) - 1);
    const __m256bh halves = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(some, from + i));
    _mm256_mask_storeu_epi16(to + i, some, (__m256i)halves);
  }
}

// The use of a thread's eight tile registers for up to 32 rows: 0-3 hold sums, 4-5 rows of x, and
// 6-7 weights. Only tiles 2, 3 and 5 hold rows of the second sixteen.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {};
  std::uint8_t rows[16] = {};
};

// The shapes are made once, because a processor that reads what it has just written byte by byte
// must wait.
constexpr auto kShapes = [] {
  std::array<TileShapes, 33> all{};
  for (int count = 1; count <= 32; ++count) {
    for (int tile = 0; tile < 8; ++tile) all[count].bytes[tile] = 64;
    for (const int tile : {0, 1, 4})
      all[count].rows[tile] = static_cast<std::uint8_t>(std::min(count, 16));
    for (const int tile : {2, 3, 5})
      all[count].rows[tile] = static_cast<std::uint8_t>(std::max(count - 16, 1));
    all[count].rows[6] = all[count].rows[7] = 16;
  }
  return all;
}();

// The product of up to 32 rows of x with neighbouring panels of 16 outputs each.
struct TileJob {
  // The tiles of the first sixteen rows, and those of the other rows or null.
  const char *upper, *lower;
  std::int64_t rows, chunks;
  // The first panel.
  const char* first;
  std::int64_t panels, panel_bytes;
  // The bias of the first panel, or null.
  const float* bias;
  // The first row and output of y, whose rows are `stride` numbers apart.
  float* y;
  std::int64_t stride;
  // Weights that are wanted soon; some of their cache lines are prefetched at each chunk.
  const char* next;
  std::int64_t lines;
};

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("amx-tile,amx-bf16"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("amx-tile,amx-bf16")
#endif
// Tells the compiler that memory is read, which the intrinsics do not.
void write_down(const void* memory) { __asm__ volatile("" : : "r"(memory) : "memory"); }

void shape_tiles(std::int64_t rows) { _tile_loadconfig(&kShapes[rows]); }
void release_tiles() { _tile_release(); }

void multiply_by_tiles(const TileJob& job) {
  const bool two_panels = job.panels == 2;
  const char *first = job.first, *second = first + job.panel_bytes, *next = job.next;
  write_down(job.upper);
  if (job.bias) {  // Every row begins with the same numbers, because the rows lie 0 bytes apart.
    _tile_loadd(0, job.bias, 0);
    _tile_loadd(2, job.bias, 0);
    if (two_panels) {
      _tile_loadd(1, job.bias + 16, 0);
      _tile_loadd(3, job.bias + 16, 0);
    }
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (std::int64_t c = 0; c < job.chunks; ++c) {
    _tile_loadd(4, job.upper + kTileBytes * c, 64);
    _tile_loadd(6, first + kTileBytes * c, 64);
    _tile_dpbf16ps(0, 4, 6);
    for (std::int64_t line = 0; line < job.lines; ++line, next += 64)
      __builtin_prefetch(next, 0, 2);
    if (two_panels) {
      _tile_loadd(7, second + kTileBytes * c, 64);
      _tile_dpbf16ps(1, 4, 7);
    }
    if (!job.lower) continue;
    _tile_loadd(5, job.lower + kTileBytes * c, 64);
    _tile_dpbf16ps(2, 5, 6);
    if (two_panels) _tile_dpbf16ps(3, 5, 7);
  }
  const std::int64_t apart = job.stride * 4;
  _tile_stored(0, job.y, apart);
  if (two_panels) _tile_stored(1, job.y + 16, apart);
  if (!job.lower) return;
  _tile_stored(2, job.y + 16 * job.stride, apart);
  if (two_panels) _tile_stored(3, job.y + 16 * job.stride + 16, apart);
}
// For so many rows the registers hold the sums of two panels.
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512bf16")
#endif
constexpr int kHeld = 14;
// For so many rows four panels are read at once, because otherwise each sum would wait for its last
// addition.
constexpr int kFew = 2;

// Does the same for up to kHeld rows, a pair of inputs at a time.
template <int M, int P>
void multiply_pairs(const TileJob& job, const char* rows, float* y) {
  __m512 sums[M][P];
  for (int p = 0; p < P; ++p) {
    sums[0][p] = job.bias ? _mm512_loadu_ps(job.bias + 16 * p) : _mm512_setzero_ps();
    for (int m = 1; m < M; ++m) sums[m][p] = sums[0][p];
  }
  for (std::int64_t c = 0; c < job.chunks; ++c) {
    const char *const x = rows + kTileBytes * c, *const weights = job.first + kTileBytes * c;
    for (int pair = 0; pair < 16; ++pair) {
      __m512bh w[P];
      for (int p = 0; p < P; ++p) {
        const char* const at = weights + p * job.panel_bytes + 64 * pair;
        // What the next panels have in this place, into the second-level cache: more can be on its
        // way there than to the first.
        __builtin_prefetch(at + P * job.panel_bytes, 0, 2);
        w[p] = (__m512bh)_mm512_loadu_si512(at);
      }
      for (int m = 0; m < M; ++m) {
        std::int32_t two;
        __builtin_memcpy(&two, x + 64 * m + 4 * pair, sizeof two);
        const auto inputs = (__m512bh)_mm512_set1_epi32(two);
        for (int p = 0; p < P; ++p) sums[m][p] = _mm512_dpbf16_ps(sums[m][p], inputs, w[p]);
      }
    }
  }
  for (int m = 0; m < M; ++m)
    for (int p = 0; p < P; ++p) _mm512_storeu_ps(y + m * job.stride + 16 * p, sums[m][p]);
}

template <int P, int M = (P > 2 ? kFew : kHeld)>
void multiply_some(const TileJob& job, std::int64_t count, const char* rows, float* y) {
  if constexpr (M == 1)
    multiply_pairs<1, P>(job, rows, y);
  else if (count == M)
    multiply_pairs<M, P>(job, rows, y);
  else
    multiply_some<P, M - 1>(job, count, rows, y);
}

void multiply_by_pairs(const TileJob& job) {
  constexpr void (*kMultiply[])(const TileJob&, std::int64_t, const char*, float*) = {
      multiply_some<1>, multiply_some<2>, multiply_some<3>, multiply_some<4>};
  for (std::int64_t strip = 0; strip < job.rows; strip += 16) {
    const std::int64_t rows = std::min<std::int64_t>(16, job.rows - strip),
                       blocks = (rows + kHeld - 1) / kHeld, each = (rows + blocks - 1) / blocks;
    for (std::int64_t row = 0; row < rows; row += each) {
      kMultiply[job.panels - 1](job, std::min(each, rows - row),
                                (strip == 0 ? job.upper : job.lower) + 64 * row,
                                job.y + (strip + row) * job.stride);
    }
  }
}
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

// Says whether the processor has what 512-bit vectors of bf16 need.
bool has_pairs() {
  return instructions() == Instructions::avx512 && __builtin_cpu_supports("avx512bf16");
}

}  // namespace

bool has_bf16_products() { return has_pairs(); }

bool has_matrix_tiles() {
  // Linux hands out the tiles' state on request, once a process (ARCH_REQ_XCOMP_PERM, XTILEDATA).
  static const bool has =
      multiplies_tiles() && has_pairs() && syscall(SYS_arch_prctl, 0x1023, 18) == 0;
  return has;
}

void tile_rows(FloatRows x, std::int64_t in, IndexRange some, char* tiles) {
  const std::int64_t chunks = (in + kTileInputs - 1) / kTileInputs;
  for (std::int64_t row = some.begin; row < some.end; ++row) {
    char* const to = tiles + row / 16 * chunks * kTileBytes + row % 16 * 64;
    for (std::int64_t c = 0; c < chunks; ++c) {
      auto* const numbers = reinterpret_cast<std::uint16_t*>(to + c * kTileBytes);
      const std::int64_t count = row < x.count ? std::min(kTileInputs, in - c * kTileInputs) : 0;
      if (count < kTileInputs) std::fill_n(numbers, kTileInputs, 0);
      to_bf16(x.first + row * in + c * kTileInputs, count, numbers);
    }
  }
}

void multiply_tiles(const PackedView& linear, TiledRows x, float* y, IndexRange pairs) {
  const std::int64_t rows = x.count, chunks = (linear.in + kTileInputs - 1) / kTileInputs,
                     blocks = (rows + 31) / 32, strip = chunks * kTileBytes;
  const std::int64_t panel_bytes = 2 * linear.stride, out = linear.out;
  // Rows are read once for each pair of panels, so many at a time that they stay in the cache.
  const std::int64_t near = std::max<std::int64_t>(kFewestBlocks, kNearBytes / (2 * strip)),
                     groups = (blocks + near - 1) / near;
  const bool tiled = has_matrix_tiles();
  // The number of pairs of panels that are computed at a time.
  const std::int64_t wide = !tiled && rows <= kFew ? 2 : 1;
  alignas(64) float sums[32 * 32];
  if (tiled) shape_tiles(std::min<std::int64_t>(32, rows));
  for (std::int64_t group = 0; group < groups; ++group) {
    const std::int64_t from = blocks * group / groups, to = blocks * (group + 1) / groups;
    // With few rows the memory is busy anyway.
    const std::int64_t lines = to - from < 4 ? 0 : (32 + to - from - 1) / (to - from);
    for (std::int64_t pair = pairs.begin; pair < pairs.end; pair += wide) {
      const char* const own = static_cast<const char*>(linear.panels) + 2 * pair * panel_bytes;
      const std::int64_t first = 32 * pair,
                         count = std::min(32 * std::min(wide, pairs.end - pair), out - first),
                         panels = (count + 15) / 16;
      for (std::int64_t block = from; block < to; ++block) {
        const std::int64_t row = 32 * block, some = std::min<std::int64_t>(32, rows - row);
        const bool direct = count % 16 == 0 && (blocks == 1 || some == 32);
        float* const into = y + row * out + first;
        const char* const upper = x.tiles + 2 * block * strip;
        const char* const next = pair + 1 < pairs.end
                                     ? own + 2 * panel_bytes + (block - from) * chunks * lines * 64
                                     : own;
        const TileJob job{upper,
                          some > 16 ? upper + strip : nullptr,
                          some,
                          chunks,
                          own,
                          panels,
                          panel_bytes,
                          linear.bias ? linear.bias + first : nullptr,
                          direct ? into : sums,
                          direct ? out : 16 * panels,
                          next,
                          lines};
        if (tiled)
          multiply_by_tiles(job);
        else
          multiply_by_pairs(job);
        for (std::int64_t r = 0; r < some && !direct; ++r)
          std::copy_n(sums + 16 * panels * r, count, into + r * out);
      }
    }
  }
  if (tiled) release_tiles();
}

}  // namespace draftlab
#else
namespace draftlab {
bool has_matrix_tiles() { return false; }
bool has_bf16_products() { return false; }
void tile_rows(FloatRows, std::int64_t, IndexRange, char*) {}
void multiply_tiles(const PackedView&, TiledRows, float*, IndexRange) {}
}  // namespace draftlab
#endif
