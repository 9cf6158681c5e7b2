// How the rows of TransformerRows attend: rows of one memory together, in tiles.
#include <algorithm>

#include "plugins/models/nn/kernels/softmax_row.h"
#include "plugins/models/nn/transformer/transformer_rows_torch.h"

namespace draftlab {
namespace {

constexpr std::size_t kTile = 16;  // So many rows are attended together.

// Returns one past the last slot that a row sees outside of its memory.
std::int64_t outside_end(const MemoryRow& row) {
  return std::max(row.outside.limit, row.outside.end);
}

void add_lines(float* x, const float* y, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) x[i] += y[i];
}

}  // namespace

std::vector<TransformerRows::Tile> TransformerRows::tiles(const Attention& attention) const {
  const bool to_source = attention.to_source;
  std::vector<Tile> tiles;
  for (std::size_t i = 0; i < attention.rows.size(); ++i) {
    const MemoryRow& row = *attention.rows[i];
    if (tiles.empty() || tiles.back().count == kTile || row.memory != attention.rows[i - 1]->memory)
      tiles.push_back({.memory = to_source ? row.source : row.memory,
                       .first = i,
                       .count = 0,
                       .seen = 0,
                       .outside = to_source ? 0 : padded(outside_end(row))});
    Tile& tile = tiles.back();
    ++tile.count;
    tile.seen = std::max(tile.seen, padded(to_source ? row.source_rows : row.limit));
    if (to_source) continue;
    for (const std::int32_t extra : row.extras) tile.seen = std::max(tile.seen, padded(extra + 1));
  }
  return tiles;
}

void TransformerRows::attend_tile(const Attention& attention, std::int64_t group,
                                  const Tile& tile) const {
  const auto [layer, rows, to_source, q, joined] = attention;
  thread_local std::vector<float> scratch, kept, line_scores;
  const std::int64_t head = config_.head_dim, all = config_.num_attention_heads * head,
                     each = config_.num_attention_heads / config_.num_key_value_heads;
  const std::int64_t count = static_cast<std::int64_t>(tile.count), lines = count * each,
                     first = static_cast<std::int64_t>(tile.first);
  scratch.resize(lines * (3 * head + tile.seen + tile.outside));
  float *queries = scratch.data(), *out = queries + lines * head, *more = out + lines * head,
        *scores = more + lines * head;
  // The scores of what is outside.
  float* const others = scores + lines * tile.seen;
  for (std::int64_t r = 0; r < count; ++r)
    std::copy_n(q + (first + r) * all + group * each * head, each * head,
                queries + r * each * head);
  const Outside& outside = rows[tile.first]->outside;
  product(tile.memory->keys(layer, group, tile.seen), {queries, lines}, scores);
  if (tile.outside > 0)
    product(outside.memory->keys(layer, group, tile.outside), {queries, lines}, others);
  for (std::int64_t line = 0; line < lines; ++line) {
    const MemoryRow& row = *rows[first + line / each];
    float* own = scores + line * tile.seen;
    kept.clear();
    if (!to_source)
      for (const std::int32_t extra : row.extras) kept.push_back(own[extra]);
    std::fill(own + (to_source ? row.source_rows : row.limit), own + tile.seen, kUnseen);
    for (std::size_t i = 0; i < kept.size(); ++i) own[row.extras[i]] = kept[i];
    if (tile.outside == 0) {
      normalise_row(own, tile.seen);
      continue;
    }
    float* other = others + line * tile.outside;
    std::fill(other + outside.limit, other + std::max(outside.limit, outside.from), kUnseen);
    std::fill(other + outside_end(row), other + tile.outside, kUnseen);
    line_scores.assign(other, other + tile.outside);
    line_scores.insert(line_scores.end(), own, own + tile.seen);
    normalise_row(line_scores.data(), tile.outside + tile.seen);
    std::copy_n(line_scores.data(), tile.outside, other);
    std::copy_n(line_scores.data() + tile.outside, tile.seen, own);
  }
  product(tile.memory->values(layer, group, tile.seen), {scores, lines}, out);
  if (tile.outside > 0) {
    product(outside.memory->values(layer, group, tile.outside), {others, lines}, more);
    add_lines(out, more, lines * head);
  }
  for (std::int64_t r = 0; r < count; ++r)
    std::copy_n(out + r * each * head, each * head,
                joined + (first + r) * all + group * each * head);
}

void TransformerRows::attend(const Attention& attention) const {
  attend_all(attention.layer, config_.num_key_value_heads, tiles(attention),
             [&](std::int64_t group, const Tile& tile) { attend_tile(attention, group, tile); });
}

}  // namespace draftlab
