#include "plugins/models/nn/kernels/row_linear_torch.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <vector>

#include "plugins/models/nn/kernels/large_pages_torch.h"
#include "plugins/models/nn/kernels/rows/bf16_products.h"
#include "plugins/models/nn/kernels/rows/lanes.h"
#include "plugins/models/nn/kernels/rows/quantised_products.h"
#include "plugins/models/nn/kernels/share_work_torch.h"

namespace draftlab {
namespace {

// A product of more rows is divided into pieces.
constexpr std::int64_t kMany = 128;
// The number of these pieces; each reads all rows.
constexpr std::int64_t kPieces = 8;
// A thread is woken for no fewer products, which take about as long as waking it.
constexpr std::int64_t kWorth = 1 << 18;

// Returns how many panels one thread computes at least, a multiple of `step`.
std::int64_t fewest_panels(std::int64_t rows, std::int64_t in, std::int64_t step) {
  const std::int64_t each = 16 * step * rows * in;
  return step * std::max<std::int64_t>(1, (kWorth + each - 1) / each);
}

}  // namespace

RowLinear::RowLinear(const at::Tensor& weight, const at::Tensor& bias, Precision precision) {
  const std::int64_t out = weight.size(0), panels = (out + 15) / 16;
  if (bias.defined()) {
    bias_ = at::zeros({panels * 16});
    bias_.narrow(0, 0, out).copy_(bias.detach());
  }
  if (is_quantised(precision))
    quantise(weight, precision == Precision::q8 ? Layout::q8 : Layout::q4);
  else
    pack(weight, precision);
  if (bias.defined()) view_.bias = bias_.data_ptr<float>();
}

void RowLinear::pack(const at::Tensor& weight, Precision precision) {
  const std::int64_t out = weight.size(0), in = weight.size(1), panels = (out + 15) / 16;
  const bool bf16 = precision == Precision::bf16;
  const Layout layout = !bf16 ? Layout::f32 : has_bf16_products() ? Layout::tiles : Layout::bf16;
  const std::int64_t room =
      layout == Layout::tiles ? (in + kTileInputs - 1) / kTileInputs * kTileInputs : in;
  panels_ = room_for_weights({panels, room, 16}, bf16 ? at::kBFloat16 : at::kFloat);
  at::parallel_for(0, panels, 8, [&](std::int64_t begin, std::int64_t end) {
    const at::NoGradGuard no_grad;
    // In tiles: [16 outputs, inputs], which is transposed a pair of inputs at a time.
    at::Tensor rows_of_panel;
    if (layout == Layout::tiles) rows_of_panel = at::zeros({16, room}, at::kBFloat16);
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t rows = std::min<std::int64_t>(16, out - 16 * p), pairs = room / 2;
      const at::Tensor panel = panels_.select(0, p), own = weight.narrow(0, 16 * p, rows);
      if (layout != Layout::tiles) {
        if (rows < 16) panel.zero_();
        panel.narrow(1, 0, rows).copy_(own.t());
        continue;
      }
      if (rows < 16) rows_of_panel.zero_();
      rows_of_panel.narrow(0, 0, rows).narrow(1, 0, in).copy_(own);
      const auto* const from = static_cast<const std::uint32_t*>(rows_of_panel.data_ptr());
      auto* const to = static_cast<std::uint32_t*>(panel.data_ptr());
      for (std::int64_t pair = 0; pair < pairs; ++pair)
        for (std::int64_t row = 0; row < 16; ++row) to[pair * 16 + row] = from[row * pairs + pair];
    }
  });
  view_ = {layout, in, out, panels_.data_ptr(), nullptr, 16 * room};
}

void RowLinear::quantise(const at::Tensor& weight, Layout layout) {
  const std::int64_t out = weight.size(0), in = weight.size(1), panels = (out + 15) / 16,
                     bytes = panel_bytes(layout, in);
  panels_ = room_for_weights({panels, bytes}, at::kByte);
  auto* const to = static_cast<char*>(panels_.data_ptr());
  at::parallel_for(0, panels, 8, [&](std::int64_t begin, std::int64_t end) {
    const at::NoGradGuard no_grad;
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t outputs = std::min<std::int64_t>(16, out - 16 * p);
      const at::Tensor own = weight.narrow(0, 16 * p, outputs).to(at::kFloat).contiguous();
      pack_panel(layout, {own.data_ptr<float>(), outputs}, in, to + p * bytes);
    }
  });
  view_ = {layout, in, out, to, nullptr, bytes};
}

void RowLinear::weights_of(std::int64_t output, float* weights) const {
  if (is_quantised(view_.layout)) return unpack_output(view_, output, weights);
  const std::int64_t from = output / 16 * view_.stride, lane = output % 16;
  const auto* const floats = static_cast<const float*>(view_.panels) + from;
  const auto* const halves = static_cast<const std::uint16_t*>(view_.panels) + from;
  for (std::int64_t i = 0; i < view_.in; ++i) {
    weights[i] = view_.layout == Layout::f32    ? floats[16 * i + lane]
                 : view_.layout == Layout::bf16 ? widen(halves[16 * i + lane])
                                                : widen(halves[i / 2 * 32 + lane * 2 + i % 2]);
  }
}

void RowLinear::apply(const float* x, std::int64_t rows, float* y) const {
  if (rows == 0) return;
  const std::int64_t grain = fewest_panels(rows, view_.in, 4);
  if (is_quantised(view_.layout)) {
    thread_local QuantisedRows of_thread;
    QuantisedRows& whole = of_thread;
    whole.resize(view_.layout, rows, view_.in);
    share_evenly(rows, 16,
                 [&](std::int64_t begin, std::int64_t end) { whole.round(x, begin, end); });
    share_evenly(view_.count(), grain, [&](std::int64_t begin, std::int64_t end) {
      multiply_quantised(view_, whole, y, {begin, end});
    });
    return;
  }
  if (view_.layout != Layout::tiles) {
    share_evenly(view_.count(), grain, [&](std::int64_t begin, std::int64_t end) {
      multiply_panels(view_, {x, rows}, y, {begin, end});
    });
    return;
  }
  thread_local std::vector<char> room;
  room.resize(tiled_bytes(rows, view_.in));
  char* const tiles = room.data();
  share_evenly(tiled_count(rows), 16, [&](std::int64_t begin, std::int64_t end) {
    tile_rows({x, rows}, view_.in, {begin, end}, tiles);
  });
  const std::int64_t pairs = (view_.count() + 1) / 2;
  const auto multiply = [&](std::int64_t begin, std::int64_t end) {
    multiply_tiles(view_, {tiles, rows}, y, {begin, end});
  };
  if (rows > kMany)
    share_work(pairs, std::max<std::int64_t>(1, pairs / kPieces), multiply);
  else
    share_evenly(pairs, grain / 2, multiply);
}

RowEmbedding::RowEmbedding(const at::Tensor& embedding, const at::Tensor& head,
                           Precision precision) {
  if (!embedding.defined() || (head.is_same(embedding) && !is_quantised(precision))) return;
  const bool narrow = precision == Precision::bf16 || embedding.scalar_type() == at::kBFloat16;
  weights_ = embedding.detach().to(narrow ? at::kBFloat16 : at::kFloat).contiguous();
}

void RowEmbedding::write(std::int64_t token, const RowLinear& head, float* x) const {
  if (!weights_.defined()) return head.weights_of(token, x);
  const std::int64_t d = weights_.size(1), from = token * d;
  if (weights_.scalar_type() == at::kFloat) {
    std::copy_n(weights_.data_ptr<float>() + from, d, x);
    return;
  }
  const auto* const halves = static_cast<const std::uint16_t*>(weights_.data_ptr()) + from;
  for (std::int64_t j = 0; j < d; ++j) x[j] = widen(halves[j]);
}

std::vector<float> floats(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  const at::Tensor copy = tensor.detach().to(at::kFloat).contiguous();
  return {copy.data_ptr<float>(), copy.data_ptr<float>() + copy.numel()};
}

Layout memory_layout(Precision precision) {
  return precision == Precision::bf16 && has_bf16_products() ? Layout::tiles : Layout::f32;
}

}  // namespace draftlab
