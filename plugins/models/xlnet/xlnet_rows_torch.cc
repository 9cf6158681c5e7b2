#include "plugins/models/xlnet/xlnet_rows_torch.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>

#include "plugins/models/nn/kernels/machine_torch.h"
#include "plugins/models/nn/kernels/rows/lanes.h"
#include "plugins/models/nn/kernels/share_work_torch.h"
#include "plugins/models/nn/kernels/softmax_row.h"
#include "plugins/models/xlnet/device_xlnet_rows_torch.h"
#include "plugins/models/xlnet/xlnet_attention_torch.h"

namespace draftlab {
namespace {

constexpr std::size_t kRowsOfTile = 32;  // So many rows are attended together.
// One product computes so many relative offsets.
constexpr std::int64_t kOffsets = 64;

// Where the keys stand that a row sees. The first `ordered` are neighbours in order.
struct KeyPositions {
  const std::int32_t* first;
  std::int64_t ordered, count;
};

// Computes scores[j] += origin[position of key j]. Returns the largest score.
float add_relative(float* scores, const float* origin, const KeyPositions& keys) {
  return on_widest([&] {
    const std::int32_t* const positions = keys.first;
    const std::int64_t ordered = keys.ordered, count = keys.count;
    const float* const run = origin + positions[0];
    float most = kUnseen;
#pragma omp simd reduction(max : most)
    for (std::int64_t j = 0; j < ordered; ++j) {
      scores[j] += run[j];
      most = scores[j] > most ? scores[j] : most;
    }
#pragma omp simd reduction(max : most)
    for (std::int64_t j = ordered; j < count; ++j) {
      scores[j] += origin[positions[j]];
      most = scores[j] > most ? scores[j] : most;
    }
    return most;
  });
}

void scale_row(const float* from, float scale, std::int64_t count, float* to) {
  on_widest([&] {
    for (std::int64_t i = 0; i < count; ++i) to[i] = scale * from[i];
  });
}

// Computes out = scale * (x + bias).
void biased(std::span<const float> x, const float* bias, float scale, float* out) {
  on_widest([&] {
    for (std::size_t i = 0; i < x.size(); ++i) out[i] = scale * (x[i] + bias[i]);
  });
}

NormView view(const at::Tensor& weight, const at::Tensor& bias, double epsilon) {
  return {weight.numel(), epsilon, weight.data_ptr<float>(), bias.data_ptr<float>()};
}

// Computes x = norm(x + y), row by row.
void add_and_norm(float* x, const float* y, std::int64_t rows, const NormView& norm) {
  const std::int64_t d = norm.width;
  share_evenly(rows, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      float* own = x + row * d;
      for (std::int64_t i = 0; i < d; ++i) own[i] += y[row * d + i];
      layer_norm(norm, own, own);
    }
  });
}

}  // namespace

XlnetRows::XlnetRows(XlnetRows&&) noexcept = default;
XlnetRows::~XlnetRows() = default;

XlnetRows::XlnetRows(Xlnet net, Precision precision, std::optional<at::Device> tensors)
    : config_(net.config), layout_(memory_layout(precision)) {
  const at::NoGradGuard no_grad;
  if (tensors) {
    elsewhere_ =
        std::make_unique<DeviceXlnetRows>(std::move(net), tensor_options(*tensors, precision));
    return;
  }
  const bool bf16 = precision == Precision::bf16;
  const std::int64_t d = config_.d_model, all = config_.n_head * config_.d_head;
  const auto whole = [](const at::Tensor& tensor) {
    return tensor.detach().to(at::kFloat).contiguous();
  };
  embedding_ = RowEmbedding(net.word_embedding, net.lm_weight, precision);
  mask_ = whole(net.mask_emb);
  head_ = RowLinear(net.lm_weight.detach(), net.lm_bias.detach(), precision);
  net.word_embedding = net.lm_weight = at::Tensor();
  for (XlnetLayer& from : net.layers) {
    Layer layer;
    const auto transposed = [&](const at::Tensor& weight) {
      return weight.detach().view({d, all}).t();
    };
    layer.q = RowLinear(transposed(from.q), {}, precision);
    layer.kv = RowLinear(at::cat({transposed(from.k), transposed(from.v)}), {}, precision);
    layer.o = RowLinear(from.o.detach().view({d, all}), {}, precision);
    layer.inner = RowLinear(from.inner.detach(), from.inner_bias.detach(), precision);
    layer.outer = RowLinear(from.outer.detach(), from.outer_bias.detach(), precision);
    layer.content_bias = whole(from.r_w_bias);
    layer.relative_bias = whole(from.r_r_bias);
    layer.attention_norm = whole(from.attention_norm);
    layer.attention_norm_bias = whole(from.attention_norm_bias);
    layer.ff_norm = whole(from.ff_norm);
    layer.ff_norm_bias = whole(from.ff_norm_bias);
    layer.r = from.r.detach().to(bf16 ? at::kBFloat16 : at::kFloat, false, true).view({d, all});
    layers_.push_back(std::move(layer));
    from = {};
  }
}

// Products of one shape, over offsets that begin at multiples of kOffsets, give an offset the same
// bits whatever other lengths this process has met: a product over the whole table would round them
// as its size has it. For the same reason the table's length is a multiple of kOffsets, too.
void XlnetRows::prepare(std::int64_t longest) {
  if (elsewhere_) return elsewhere_->prepare(longest);
  if (longest <= length_) return;
  const at::NoGradGuard no_grad;
  const std::int64_t length = (longest + kOffsets - 1) / kOffsets * kOffsets, d = config_.d_model,
                     heads = config_.n_head, head = config_.d_head, offsets = 2 * length - 1;
  // The blocks of positions, from the highest offset down.
  std::vector<at::Tensor> blocks;
  for (std::int64_t high = length - 1; high > -length; high -= kOffsets)
    blocks.push_back(positional_rows(high, high - kOffsets + 1, d));
  for (Layer& layer : layers_) {
    layer.relative = Panels(heads);
    layer.relative.settle(layout_, offsets, head);
    const at::Tensor weights = layer.r.to(at::kFloat);
    std::int64_t output = 0;
    for (const at::Tensor& positions : blocks) {
      // The shape is [kOffsets, H dh].
      const at::Tensor rows = at::matmul(positions, weights);
      for (std::int64_t o = 0; o < kOffsets && output < offsets; ++o, ++output) {
        for (std::int64_t h = 0; h < heads; ++h)
          layer.relative.set_output(h, output, rows.data_ptr<float>() + (o * heads + h) * head,
                                    head);
      }
    }
  }
  length_ = length;
}

std::vector<XlnetRows::Tile> XlnetRows::tiles(std::span<const Row* const> rows) const {
  std::vector<std::int64_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return std::less<>()(rows[a]->cache, rows[b]->cache);
  });
  std::vector<Tile> tiles;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool other = i == 0 || rows[order[i]]->cache != rows[order[i - 1]]->cache;
    if (other || tiles.back().rows.size() == kRowsOfTile)
      tiles.push_back({.memory = &rows[order[i]]->cache->memory_});
    tiles.back().rows.push_back(order[i]);
  }
  for (Tile& tile : tiles) {
    // `end` bounds the slots that are seen; `first` and `last` bound the rows' positions.
    std::int64_t end = 0, first = length_, last = 0;
    for (const std::int64_t i : tile.rows) {
      const Row& row = *rows[i];
      end = std::max(end, row.limit);
      for (const std::int32_t extra : row.extras) end = std::max<std::int64_t>(end, extra + 1);
      first = std::min<std::int64_t>(first, row.position);
      last = std::max<std::int64_t>(last, row.position);
    }
    const std::vector<std::int32_t>& keys = rows[tile.rows[0]]->cache->positions_;
    const auto [nearest, farthest] = std::minmax_element(keys.begin(), keys.begin() + end);
    tile.seen = padded(end);
    tile.lowest = (length_ - 1 - last + *nearest) / 16 * 16;
    tile.offsets = padded(length_ - first + *farthest) - tile.lowest;
    for (tile.ordered = 0; tile.ordered < end && keys[tile.ordered] == keys[0] + tile.ordered;)
      ++tile.ordered;
  }
  return tiles;
}

// Scores are (q + r_w_bias) . key + (q + r_r_bias) . W_r PE(offset), each a product over the tile;
// a row then takes the offsets of its own keys.
void XlnetRows::attend_tile(const Attention& attention, std::int64_t head, const Tile& tile) const {
  const auto [l, rows, q, joined] = attention;
  const Layer& layer = layers_[l];
  thread_local std::vector<float> scratch, kept;
  const std::int64_t width = config_.d_head, all = config_.n_head * width,
                     count = static_cast<std::int64_t>(tile.rows.size());
  scratch.resize(count * (3 * width + tile.seen + tile.offsets));
  float *content = scratch.data(), *relative = content + count * width,
        *out = relative + count * width;
  float *scores = out + count * width, *others = scores + count * tile.seen;
  const float *content_bias = layer.content_bias.data_ptr<float>() + head * width,
              *relative_bias = layer.relative_bias.data_ptr<float>() + head * width;
  const float scale = 1 / std::sqrt(static_cast<float>(width));
  for (std::int64_t r = 0; r < count; ++r) {
    const std::span own(q + tile.rows[r] * all + head * width, static_cast<std::size_t>(width));
    biased(own, content_bias, scale, content + r * width);
    biased(own, relative_bias, scale, relative + r * width);
  }
  const auto layer_number = static_cast<std::int64_t>(l);
  product(tile.memory->keys(layer_number, head, tile.seen), {content, count}, scores);
  product(layer.relative.view(head, tile.lowest, tile.offsets, width), {relative, count}, others);

  const std::int32_t* positions = rows[tile.rows[0]]->cache->positions_.data();
  std::array<float, kRowsOfTile> sums;
  for (std::int64_t r = 0; r < count; ++r) {
    const Row& row = *rows[tile.rows[r]];
    float* own = scores + r * tile.seen;
    // The relative score of position 0.
    const float* origin = others + r * tile.offsets + (length_ - 1 - row.position - tile.lowest);
    kept.clear();
    for (const std::int32_t extra : row.extras)
      kept.push_back(own[extra] + origin[positions[extra]]);
    float largest = kUnseen;
    if (row.limit > 0)
      largest =
          add_relative(own, origin, {positions, std::min(tile.ordered, row.limit), row.limit});
    std::fill(own + row.limit, own + tile.seen, kUnseen);
    for (std::size_t i = 0; i < kept.size(); ++i)
      own[row.extras[i]] = kept[i], largest = std::max(largest, kept[i]);
    sums[r] = soften_row(own, tile.seen, largest);
  }
  product(tile.memory->values(layer_number, head, tile.seen), {scores, count}, out);
  for (std::int64_t r = 0; r < count; ++r)
    scale_row(out + r * width, 1 / sums[r], width, joined + tile.rows[r] * all + head * width);
}

void XlnetRows::embed(std::span<const Row> content, std::int64_t queries, float* x) const {
  const std::int64_t d = config_.d_model;
  for (const Row& row : content) {
    embedding_.write(row.token, head_, x);
    x += d;
  }
  for (std::int64_t i = 0; i < queries; ++i) std::copy_n(mask_.data_ptr<float>(), d, x + i * d);
}

void XlnetRows::put_keys(std::size_t l, std::span<const Row> content, const float* x,
                         float* kv) const {
  const std::int64_t heads = config_.n_head, head = config_.d_head, all = heads * head,
                     contents = static_cast<std::int64_t>(content.size()),
                     layer = static_cast<std::int64_t>(l);
  // The memories of several sequences are not in the cache at once.
  if (contents > 0 && content.front().cache != content.back().cache)
    for (const Row& row : content) row.cache->memory_.fetch_slot(layer, row.index);
  layers_[l].kv.apply(x, contents, kv);
  share_evenly(contents, 16, [&](std::int64_t begin, std::int64_t end) {
    // Neighbours share the cache lines of a head.
    for (std::int64_t near = begin; near < end; near += 16) {
      for (std::int64_t h = 0; h < heads; ++h) {
        for (std::int64_t i = near; i < std::min(near + 16, end); ++i) {
          const float* own = kv + i * 2 * all + h * head;
          content[i].cache->memory_.put({layer, h, content[i].index}, own, own + all);
        }
      }
    }
  });
}

at::Tensor XlnetRows::forward(std::span<const Row> content, std::span<const Row> queries) const {
  if (elsewhere_) return elsewhere_->forward(content, queries);
  const at::NoGradGuard no_grad;
  const std::int64_t d = config_.d_model, all = config_.n_head * config_.d_head,
                     wide = config_.d_inner;
  const std::int64_t contents = static_cast<std::int64_t>(content.size()),
                     asked = static_cast<std::int64_t>(queries.size()), most = contents + asked;
  const TimedForward timed(threads_, most);
  for (const Row& row : content) row.cache->memory_.settle(layout_);
  const auto x = room(most * d), q = room(most * all), kv = room(contents * 2 * all),
             joined = room(most * all), added = room(most * d), inner = room(most * wide);
  embed(content, asked, x.get());

  // The rows that the current layer computes. Content rows come first, so that the last layer,
  // which needs only their keys and values, can leave them out.
  std::vector<const Row*> above;
  std::vector<Tile> together;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    const std::int64_t first = l + 1 == layers_.size() ? contents : 0, rows = most - first;
    if (l == 0 || first > 0) {
      above.clear();
      for (std::int64_t i = first; i < most; ++i)
        above.push_back(i < contents ? &content[i] : &queries[i - contents]);
      together = tiles(above);
    }
    put_keys(l, content, x.get(), kv.get());
    float* at = x.get() + first * d;
    layer.q.apply(at, rows, q.get());
    attend_all(static_cast<std::int64_t>(l), config_.n_head, together,
               [&](std::int64_t h, const Tile& tile) {
                 attend_tile({l, above, q.get(), joined.get()}, h, tile);
               });
    layer.o.apply(joined.get(), rows, added.get());
    add_and_norm(at, added.get(), rows,
                 view(layer.attention_norm, layer.attention_norm_bias, config_.layer_norm_eps));
    layer.inner.apply(at, rows, inner.get());
    share_evenly(rows, 16, [&](std::int64_t begin, std::int64_t end) {
      exact_gelu(inner.get() + begin * wide, (end - begin) * wide);
    });
    layer.outer.apply(inner.get(), rows, added.get());
    add_and_norm(at, added.get(), rows,
                 view(layer.ff_norm, layer.ff_norm_bias, config_.layer_norm_eps));
  }
  at::Tensor logits = at::empty({asked, config_.vocab_size});
  head_.apply(x.get() + contents * d, asked, logits.data_ptr<float>());
  return logits;
}

}  // namespace draftlab
