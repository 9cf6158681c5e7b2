#include "plugins/models/row_linear_torch.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "plugins/models/lanes.h"

#if defined(__x86_64__) && defined(__linux__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#define DRAFTLAB_TILES 1
#endif

namespace draftlab {
namespace {

constexpr std::int64_t kChunk = 32;  // inputs of a tile

}  // namespace

#ifdef DRAFTLAB_TILES
namespace {

constexpr std::int64_t kTileBytes = 1024;

// Round to nearest, ties to even; not-a-number stays what it is.
__attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16"))) void to_bf16(const float* from, std::int64_t count, std::uint16_t* to) {
  for (std::int64_t i = 0; i < count; i += 16) {
    const auto some = static_cast<__mmask16>(count - i >= 16 ? 0xffff : (1 << (count - i)) - 1);
    const __m256bh halves = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(some, from + i));
    _mm256_mask_storeu_epi16(to + i, some, (__m256i)halves);
  }
}

// What a thread's eight tile registers are: 0-3 sums, 4-5 rows of x, 6-7 weights. Of the second sixteen rows only tiles 2, 3
// and 5 have some.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {};
  std::uint8_t rows[16] = {};
  TileShapes(std::int64_t upper, std::int64_t lower) {
    for (int tile = 0; tile < 8; ++tile) bytes[tile] = 64;
    for (const int tile : {0, 1, 4}) rows[tile] = static_cast<std::uint8_t>(upper);
    for (const int tile : {2, 3, 5}) rows[tile] = static_cast<std::uint8_t>(std::max<std::int64_t>(lower, 1));
    rows[6] = rows[7] = 16;
  }
};

// Up to 32 rows of x times one panel or two neighbouring ones, of 16 outputs each. Rows of x stand in tiles as the weights do:
// [chunk][16 rows][32 inputs].
struct TileJob {
  const char *upper, *lower;  // tiles of the first sixteen rows, and of the others or nothing
  std::int64_t chunks;
  const char* panels;         // the first
  std::int64_t panel_bytes;
  float* y;                   // of the first row and output; rows `stride` numbers apart
  std::int64_t stride;
  const char* next;           // weights that are wanted soon: so many lines of them a chunk
  std::int64_t lines;
};

#pragma GCC push_options
#pragma GCC target("amx-tile,amx-bf16")
// The intrinsics do not tell the compiler what memory they read.
void write_down(const void* memory) { __asm__ volatile("" : : "r"(memory) : "memory"); }

void shape_tiles(const TileShapes& shapes) {
  write_down(&shapes);
  _tile_loadconfig(&shapes);
}
void release_tiles() { _tile_release(); }

void multiply_tiles(const TileJob& job, bool two_panels) {
  const char *first = job.panels, *second = first + job.panel_bytes, *next = job.next;
  write_down(job.upper);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (std::int64_t c = 0; c < job.chunks; ++c) {
    _tile_loadd(4, job.upper + kTileBytes * c, 64);
    _tile_loadd(6, first + kTileBytes * c, 64);
    _tile_dpbf16ps(0, 4, 6);
    for (std::int64_t line = 0; line < job.lines; ++line, next += 64) __builtin_prefetch(next, 0, 2);
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
#pragma GCC pop_options

}  // namespace

bool RowLinear::has_tiles() {
  // Linux hands out the tiles' state on request, once a process (ARCH_REQ_XCOMP_PERM, XTILEDATA).
  static const bool has = __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-bf16") && __builtin_cpu_supports("avx512bf16") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && syscall(SYS_arch_prctl, 0x1023, 18) == 0;
  return has;
}

void RowLinear::apply_tiles(const float* x, std::int64_t rows, float* y) const {
  const std::int64_t panels = tiles_.size(0), chunks = tiles_.size(1), blocks = (rows + 31) / 32, strip = chunks * kTileBytes;
  thread_local std::vector<char> strips;  // of sixteen rows each; rows that are not there are zeros where they are computed
  strips.resize(2 * blocks * strip);
  char* const halves = strips.data();
  at::parallel_for(0, blocks > 1 ? 32 * blocks : rows, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      char* const to = halves + row / 16 * strip + row % 16 * 64;
      for (std::int64_t c = 0; c < chunks; ++c) {
        auto* const numbers = reinterpret_cast<std::uint16_t*>(to + c * kTileBytes);
        const std::int64_t count = row < rows ? std::min(kChunk, in_ - c * kChunk) : 0;
        if (count < kChunk) std::fill_n(numbers, kChunk, 0);
        to_bf16(x + row * in_ + c * kChunk, count, numbers);
      }
    }
  });
  const auto* const weights = static_cast<const char*>(tiles_.data_ptr());
  const std::int64_t lines = blocks < 4 ? 0 : (32 + blocks - 1) / blocks;  // with few rows memory is busy anyway
  at::parallel_for(0, (panels + 1) / 2, 2, [&](std::int64_t begin, std::int64_t end) {
    alignas(64) float sums[32 * 32];
    if (blocks > 1) shape_tiles({16, 16});
    else shape_tiles({std::min<std::int64_t>(16, rows), rows - 16});
    for (std::int64_t pair = begin; pair < end; ++pair) {
      const char* const own = weights + 2 * pair * strip;
      const std::int64_t first = 32 * pair, count = std::min<std::int64_t>(32, out_ - first);
      for (std::int64_t block = 0; block < blocks; ++block) {
        const std::int64_t row = 32 * block, some = std::min<std::int64_t>(32, rows - row);
        const bool direct = count % 16 == 0 && (blocks == 1 || some == 32);
        float* const to = y + row * out_ + first;
        const char* const next = pair + 1 < end ? own + 2 * strip + block * chunks * lines * 64 : own;
        multiply_tiles({halves + 2 * block * strip, blocks > 1 || rows > 16 ? halves + (2 * block + 1) * strip : nullptr, chunks, own, strip,
                        direct ? to : sums, direct ? out_ : 32, next, lines}, count > 16);
        for (std::int64_t r = 0; r < some && !direct; ++r) std::copy_n(sums + 32 * r, count, to + r * out_);
        for (std::int64_t r = 0; r < some && !bias_.empty(); ++r) for (std::int64_t j = 0; j < count; ++j) to[r * out_ + j] += bias_[first + j];
      }
    }
    release_tiles();
  });
}
#else
bool RowLinear::has_tiles() { return false; }
void RowLinear::apply_tiles(const float*, std::int64_t, float*) const {}
#endif

RowLinear::RowLinear(const at::Tensor& weight, const at::Tensor& bias, bool bf16) : in_(weight.size(1)), out_(weight.size(0)) {
  if (!bf16 || !has_tiles()) {
    packed_ = PackedLinear(weight, bias, bf16);
    return;
  }
  const std::int64_t panels = (out_ + 15) / 16, chunks = (in_ + kChunk - 1) / kChunk;
  tiles_ = at::empty({panels, chunks, 16, 16, 2}, at::kBFloat16);
  auto* const tiles = static_cast<std::uint32_t*>(tiles_.data_ptr());  // pairs of inputs
  at::parallel_for(0, panels, 8, [&](std::int64_t begin, std::int64_t end) {
    const at::NoGradGuard no_grad;
    const at::Tensor panel = at::zeros({16, chunks * kChunk}, at::kBFloat16);
    const auto* const from = static_cast<const std::uint32_t*>(panel.data_ptr());
    const std::int64_t pairs = chunks * 16;
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t rows = std::min<std::int64_t>(16, out_ - 16 * p);
      if (rows < 16) panel.zero_();
      panel.narrow(0, 0, rows).narrow(1, 0, in_).copy_(weight.narrow(0, 16 * p, rows));
      std::uint32_t* const to = tiles + p * pairs * 16;
      for (std::int64_t pair = 0; pair < pairs; ++pair) for (std::int64_t row = 0; row < 16; ++row) to[pair * 16 + row] = from[row * pairs + pair];
    }
  });
  if (!bias.defined()) return;
  const at::Tensor floats = bias.detach().to(at::kFloat).contiguous();
  bias_.assign(floats.data_ptr<float>(), floats.data_ptr<float>() + out_);
}

void RowLinear::weights_of(std::int64_t output, float* weights) const {
  if (!tiles_.defined()) return packed_.weights_of(output, weights);
  const auto* const panel = static_cast<const std::uint16_t*>(tiles_.data_ptr()) + output / 16 * tiles_.size(1) * 16 * kChunk;
  for (std::int64_t i = 0; i < in_; ++i) weights[i] = widen(panel[i / 2 * 32 + output % 16 * 2 + i % 2]);
}

void RowLinear::apply(const float* x, std::int64_t rows, float* y) const {
  if (rows == 0) return;
  if (tiles_.defined()) apply_tiles(x, rows, y);
  else packed_.apply(x, rows, y);
}

}  // namespace draftlab
