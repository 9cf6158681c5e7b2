#include "plugins/models/row_linear_torch.h"

#include <ATen/Parallel.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#if defined(__x86_64__) && defined(__linux__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#define DRAFTLAB_TILES 1
#endif

namespace draftlab {

#ifdef DRAFTLAB_TILES
namespace {

constexpr std::int64_t kChunk = 32;      // inputs of a tile
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

// Up to 32 rows of x (bf16, `width` numbers apart) times one panel or two neighbouring ones, of 16 outputs each.
struct TileJob {
  const std::uint16_t* x;
  std::int64_t rows, width, chunks;
  const char* panels;  // the first
  std::int64_t panel_bytes;
  float* y;            // of the first row and output; rows `stride` numbers apart
  std::int64_t stride;
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
  const bool two_rows = job.rows > 16;
  const std::int64_t stride = job.width * 2;
  const char *x = reinterpret_cast<const char*>(job.x), *lower = x + 16 * stride, *first = job.panels, *second = first + job.panel_bytes;
  write_down(x);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (std::int64_t c = 0; c < job.chunks; ++c) {
    _tile_loadd(4, x + 64 * c, stride);
    _tile_loadd(6, first + kTileBytes * c, 64);
    _tile_dpbf16ps(0, 4, 6);
    if (two_panels) {
      _tile_loadd(7, second + kTileBytes * c, 64);
      _tile_dpbf16ps(1, 4, 7);
    }
    if (!two_rows) continue;
    _tile_loadd(5, lower + 64 * c, stride);
    _tile_dpbf16ps(2, 5, 6);
    if (two_panels) _tile_dpbf16ps(3, 5, 7);
  }
  const std::int64_t apart = job.stride * 4;
  _tile_stored(0, job.y, apart);
  if (two_panels) _tile_stored(1, job.y + 16, apart);
  if (!two_rows) return;
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
  const std::int64_t panels = tiles_.size(0), chunks = tiles_.size(1), width = chunks * kChunk;
  thread_local std::vector<std::uint16_t> halves;
  halves.resize(rows * width);
  for (std::int64_t row = 0; row < rows; ++row) {
    to_bf16(x + row * in_, in_, halves.data() + row * width);
    std::fill(halves.data() + row * width + in_, halves.data() + (row + 1) * width, 0);
  }
  const std::uint16_t* const from = halves.data();
  const auto* const weights = static_cast<const char*>(tiles_.data_ptr());
  at::parallel_for(0, (panels + 1) / 2, 2, [&](std::int64_t begin, std::int64_t end) {
    alignas(64) float sums[32 * 32];
    std::int64_t shaped = 0;
    for (std::int64_t row = 0; row < rows; row += 32) {
      const std::int64_t some = std::min<std::int64_t>(32, rows - row);
      if (some != shaped) shape_tiles({std::min<std::int64_t>(16, some), some - 16});
      shaped = some;
      for (std::int64_t pair = begin; pair < end; ++pair) {
        const std::int64_t first = 32 * pair, count = std::min<std::int64_t>(32, out_ - first);
        const bool two = count > 16, direct = count % 16 == 0;
        float* const to = y + row * out_ + first;
        multiply_tiles({from + row * width, some, width, chunks, weights + 2 * pair * chunks * kTileBytes, chunks * kTileBytes,
                        direct ? to : sums, direct ? out_ : 32}, two);
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
  const std::int64_t panels = (out_ + 15) / 16, chunks = (in_ + 31) / 32;
  at::Tensor padded = at::zeros({panels * 16, chunks * 32}, at::kBFloat16);
  padded.narrow(0, 0, out_).narrow(1, 0, in_).copy_(weight);
  tiles_ = padded.view({panels, 16, chunks, 16, 2}).permute({0, 2, 3, 1, 4}).contiguous();
  if (!bias.defined()) return;
  const at::Tensor floats = bias.detach().to(at::kFloat).contiguous();
  bias_.assign(floats.data_ptr<float>(), floats.data_ptr<float>() + out_);
}

void RowLinear::apply(const float* x, std::int64_t rows, float* y) const {
  if (rows == 0) return;
  if (tiles_.defined()) apply_tiles(x, rows, y);
  else packed_.apply(x, rows, y);
}

}  // namespace draftlab
