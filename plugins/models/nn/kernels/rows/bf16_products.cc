#include "plugins/models/nn/kernels/rows/bf16_products.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "plugins/models/nn/kernels/rows/instructions.h"

#if defined(__x86_64__) && defined(__linux__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plugins/models/nn/kernels/rows/bf16_job.h"
#include "plugins/models/nn/kernels/rows/bf16_pairs.h"

namespace draftlab {
namespace {

using bf16::kTileBytes;
using bf16::TileJob;

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
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

// Says whether the processor has what 512-bit vectors of bf16 need.
bool has_pairs() {
  return instructions() == Instructions::avx512 && __builtin_cpu_supports("avx512bf16");
}

// Fills `wide` with rows in f32, each as long as its tiles.
void widen(TiledRows x, std::int64_t chunks, std::vector<float>& wide) {
  wide.resize(x.count * chunks * kTileInputs);
  auto to = wide.begin();
  for (std::int64_t row = 0; row < x.count; ++row)
    for (std::int64_t c = 0; c < chunks; ++c) {
      std::uint16_t halves[kTileInputs];
      __builtin_memcpy(halves, x.tiles + (row / 16 * chunks + c) * kTileBytes + row % 16 * 64,
                       sizeof halves);
      for (const std::uint32_t half : halves) *to++ = std::bit_cast<float>(half << 16);
    }
}

}  // namespace

bool has_bf16_products() { return has_pairs(); }

bool has_matrix_tiles() {
  // Linux hands out the tiles' state on request, once a process (ARCH_REQ_XCOMP_PERM, XTILEDATA).
  static const bool has =
      multiplies_tiles() && has_pairs() && syscall(SYS_arch_prctl, 0x1023, 18) == 0;
  return has;
}

const std::vector<Bf16Way>& bf16_ways() {
  static const std::vector<Bf16Way> ways = [] {
    std::vector<Bf16Way> these;
    if (has_matrix_tiles()) these.push_back(Bf16Way::tiles);
    if (has_pairs()) these.insert(these.end(), {Bf16Way::pairs, Bf16Way::widened});
    // On a Xeon products of pairs reached less than half of what f32 does (quantised.md).
    if (!has_matrix_tiles() && __builtin_cpu_is("intel")) std::reverse(these.begin(), these.end());
    return these;
  }();
  return ways;
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

void multiply_tiles(const PackedView& linear, TiledRows x, float* y, IndexRange pairs,
                    Bf16Way way) {
  const std::int64_t rows = x.count, chunks = (linear.in + kTileInputs - 1) / kTileInputs,
                     blocks = (rows + 31) / 32, strip = chunks * kTileBytes;
  const std::int64_t panel_bytes = 2 * linear.stride, out = linear.out;
  // Rows are read once for each pair of panels, so many at a time that they stay in the cache.
  const bool tiled = way == Bf16Way::tiles, widens = way == Bf16Way::widened;
  const std::int64_t block_bytes = (widens ? 4 : 2) * strip,
                     near = std::max<std::int64_t>(kFewestBlocks, kNearBytes / block_bytes),
                     groups = (blocks + near - 1) / near;
  thread_local std::vector<float> wide_rows;
  if (widens) widen(x, chunks, wide_rows);
  // The number of pairs of panels that are computed at a time.
  const std::int64_t wide = !tiled && rows <= bf16::kFew ? 2 : 1;
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
                          widens ? wide_rows.data() + row * chunks * kTileInputs : nullptr,
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
          (widens ? bf16::multiply_by_pairs<bf16::Widened>
                  : bf16::multiply_by_pairs<bf16::Paired>)(job);
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
const std::vector<Bf16Way>& bf16_ways() {
  static const std::vector<Bf16Way> none;
  return none;
}
void multiply_tiles(const PackedView&, TiledRows, float*, IndexRange, Bf16Way) {}
}  // namespace draftlab
#endif
