#include "plugins/models/block_diffusion/block_rows_torch.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"

namespace draftlab {
namespace {

// Causal rows are cached in pieces of so many.
constexpr std::int32_t kPiece = 256;

}  // namespace

BlockSequence::BlockSequence(const Canvas& canvas, const Blocks& blocks, const BlockRules& rules,
                             const TransformerConfig& config)
    : Sequence(canvas), blocks_(blocks), rules_(rules), memory_(config, canvas.length() + 64) {}

// Returns how much of the cache the canvas confirms.
std::int32_t BlockSequence::agreed() const {
  std::int32_t same = 0;
  while (same < cached() && cached_[same] == canvas.token(same)) ++same;
  return same == cached() || rules_.causal_cache ? same : blocks_.first(same);
}

// Returns one past the last position such that it and all before it are final.
std::int32_t BlockSequence::final_end(bool whole_blocks) const {
  std::int32_t end = 0;
  while (end < canvas.length() && is_final(end)) ++end;
  return end == canvas.length() || !whole_blocks ? end : blocks_.first(end);
}

// Returns one past the last position that the prompt's forward caches.
std::int32_t BlockSequence::given_end() const {
  std::int32_t end = 0;
  while (end < canvas.length() && canvas.given(end)) ++end;
  return end == canvas.length() || (rules_.causal_cache && rules_.ride) ? end : blocks_.first(end);
}

std::optional<BlockSequence::Due> BlockSequence::due() const {
  const std::int32_t have = agreed();
  if (have == 0 && given_end() > 0) return Due{Kind::prefill, given_end()};
  if (rules_.ride || have >= final_end(true)) return std::nullopt;
  return Due{Kind::commit, block_end(have)};
}

std::int32_t BlockSequence::begin(const Question& question) {
  if (const std::int32_t same = agreed(); same < cached()) {
    // In a right-shifted model, it came from a row that is now computed once more.
    boundary = {};
    kept_block_ = -1, kept_.clear();
    cached_.resize(!rules_.shifted || same == 0 ? same
                   : rules_.causal_cache        ? same - 1
                                                : blocks_.first(same - 1));
  }
  if (question.kind != Kind::prefill && question.kind != Kind::commit) {
    return final_end(!(rules_.causal_cache && rules_.ride && question.view == View::causal));
  }
  const std::optional<Due> now = due();
  return now ? now->end : cached();
}

bool BlockSequence::add_final_rows(std::int32_t end, std::vector<MemoryRow>& rows) {
  if (cached() >= end) return false;
  const std::int32_t first = cached(), last = rules_.causal_cache ? std::min(end, first + kPiece)
                                                                  : std::min(end, block_end(first));
  memory_.reserve(last);
  for (std::int32_t i = first; i < last; ++i) {
    cached_.push_back(canvas.token(i));
    rows.push_back({.memory = &memory_,
                    .position = i,
                    .token = canvas.token(i),
                    .slot = i,
                    .limit = rules_.causal_cache ? i + 1 : last});
  }
  if (rules_.shifted && last == end) rows.back().asked = true;
  return true;
}

void BlockSequence::add_question_rows(const Question& question, std::vector<MemoryRow>& rows,
                                      std::vector<AnswerRow>& answers) {
  slots_ = cached();
  if (kept_block_ >= 0)
    slots_ = std::max<std::int64_t>(slots_, 2 * block_end(kept_block_) - kept_block_);
  if (question.asks.empty()) return;
  if (question.view == View::causal)
    chain(question, rows, answers);
  else
    denoise(question, rows, answers);
}

std::int64_t BlockSequence::take_slot() {
  memory_.reserve(slots_ + 1);
  return slots_++;
}

// Adds the block's tokens, masks where it is masked, each seeing the whole block and the cached
// blocks before it. Of a block whose rows are kept, it adds those of one part.
void BlockSequence::denoise(const Question& question, std::vector<MemoryRow>& rows,
                            std::vector<AnswerRow>& answers) {
  if (!question.nodes.empty())
    throw Fault("block-diffusion judges drafts in the causal view, not in the bidirectional one");
  std::int32_t asked = -1;
  for (const Ask& ask : question.asks)
    if (!ask.positions.empty()) asked = ask.positions.front();
  if (asked < 0) return;
  const std::int32_t first = blocks_.first(asked), end = block_end(asked);
  if (first > cached())
    throw Fault("position {} was asked before the blocks left of it were finished", asked);

  std::int32_t leftmost = asked, rightmost = asked;
  for (const Ask& ask : question.asks) {
    for (const std::int32_t position : ask.positions) {
      if (position < first || position >= end)
        throw Fault("positions {} and {} of two blocks were asked at once", asked, position);
      leftmost = std::min(leftmost, position);
      rightmost = std::max(rightmost, position);
    }
  }
  // The rows [from, until) are computed.
  std::int32_t from = first, until = end;
  if (const std::int32_t part = blocks_.part_first(leftmost);
      kept_block_ == first && part == blocks_.part_first(rightmost)) {
    if (rules_.part_cache == PartCache::once || (leftmost > part && !canvas.masked(part)))
      from = part, until = blocks_.part_end(part, canvas.length());
  }

  // In a right-shifted model, the block's first position is answered by the row before the block.
  const auto begin = static_cast<std::int64_t>(rows.size());
  bool inside = false;
  std::vector<char> asked_rows(until - from, 0);
  for (const Ask& ask : question.asks) {
    for (const std::int32_t position : ask.positions) {
      std::int32_t row = rules_.shifted ? position - 1 : position;
      if (row < first && first != cached())
        throw Fault("position {} was asked after its block was finished", position);
      // S2D2's port reads a part's first position so.
      if (row >= first) row = std::max(row, from);
      answers.push_back(
          {ask.node, position, row < first ? AnswerRow::kBoundary : begin + row - from});
      if (row < first) continue;
      inside = true;
      asked_rows[row - from] = 1;
    }
  }
  if (!inside) return;

  std::int32_t mask = first;
  while (mask < end && !canvas.masked(mask)) ++mask;
  const auto token = [&](std::int32_t i) {
    return canvas.masked(i) ? rules_.mask : canvas.token(i);
  };
  if (keeps()) {
    if (until - from == end - first) kept_.clear();
    kept_ += std::to_string(from);
    for (std::int32_t i = from; i < until; ++i) kept_ += " " + std::to_string(token(i));
    kept_ += ";";
    kept_block_ = first;
    slots_ = end;
  }
  std::vector<std::int32_t> slots;
  for (std::int32_t i = first; i < end; ++i)
    slots.push_back(static_cast<std::int32_t>(take_slot()));
  for (std::int32_t i = from; i < until; ++i) {
    const std::int32_t seen = rules_.causal_draft && i < mask ? i + 1 - first : end - first;
    MemoryRow row{.memory = &memory_,
                  .position = i,
                  .token = token(i),
                  .slot = slots[i - first],
                  .limit = first};
    if (slots.front() == first)
      row.limit += seen;
    else
      row.extras.assign(slots.begin(), slots.begin() + seen);
    row.asked = asked_rows[i - from];
    rows.push_back(std::move(row));
  }
}

void BlockSequence::extend(Path& path, std::int32_t position, Token token,
                           std::vector<MemoryRow>& rows) {
  const std::int64_t slot = take_slot();
  if (path.extras.empty() && slot == path.limit)
    ++path.limit;
  else
    path.extras.push_back(static_cast<std::int32_t>(slot));
  path.next = position + 1;
  path.row = static_cast<std::int64_t>(rows.size());
  rows.push_back({.memory = &memory_,
                  .position = position,
                  .token = token,
                  .slot = slot,
                  .limit = path.limit,
                  .extras = path.extras});
}

// Committed tokens between a path's end and a position that follows it become part of the path,
// too.
void BlockSequence::fill(Path& path, std::int32_t until, std::vector<MemoryRow>& rows) {
  if (until < path.next)
    throw Fault("position {} was asked causally, but it does not follow position {}", until,
                path.next - 1);
  for (std::int32_t i = path.next; i < until; ++i) {
    if (!canvas.masked(i))
      extend(path, i, canvas.token(i), rows);
    else if (rules_.shifted)
      throw Fault("position {} was asked causally while position {} before it is masked", until, i);
  }
  path.next = until;
}

// Adds the rows of block size 1, where a token sees what precedes it. Position-aligned models
// answer in a row that holds the mask token and sees the tokens before it and itself (the 2L
// trick); right-shifted ones answer in the row of the token before.
void BlockSequence::chain(const Question& question, std::vector<MemoryRow>& rows,
                          std::vector<AnswerRow>& answers) {
  const std::vector<Node>& nodes = question.nodes;
  std::int32_t start = canvas.length();
  for (const Node& node : nodes)
    if (node.parent == kRoot) start = std::min(start, node.position);
  for (const Ask& ask : question.asks)
    if (ask.node == kRoot)
      for (const std::int32_t position : ask.positions) start = std::min(start, position);
  Path root{cached(), {}, cached()};
  fill(root, start, rows);

  const bool whole = rules_.whole_block && !nodes.empty();
  // A drafted token that nobody sees needs no row.
  std::vector<char> needed(nodes.size(), whole), parent(nodes.size(), 0);
  for (const Ask& ask : question.asks) {
    for (const std::int32_t position : ask.positions) {
      const bool last = ask.node == kRoot || position > nodes[ask.node].position;
      if (!last) throw Fault("position {} was asked at a token that follows it", position);
    }
    for (int node = ask.node; node != kRoot; node = nodes[node].parent) needed[node] = 1;
  }
  std::vector<Path> paths(nodes.size());
  const auto path_at = [&](int node) -> const Path& { return node == kRoot ? root : paths[node]; };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].parent != kRoot) parent[nodes[i].parent] = 1;
    if (!needed[i]) continue;
    paths[i] = path_at(nodes[i].parent);
    fill(paths[i], nodes[i].position, rows);
    extend(paths[i], nodes[i].position, nodes[i].token, rows);
  }
  for (const Ask& ask : question.asks) {
    for (const std::int32_t position : ask.positions) {
      Path path = path_at(ask.node);
      fill(path, position, rows);
      if (!rules_.shifted) extend(path, position, rules_.mask, rows);
      answers.push_back({ask.node, position, path.row});
      if (path.row != AnswerRow::kBoundary) rows[path.row].asked = true;
    }
  }
  if (!whole) return;

  // The authors compute every row of the block and, with position-aligned logits, every mask row,
  // once a path; so does this.
  const std::int32_t first = std::max(blocks_.first(start), cached()), end = block_end(start);
  for (std::size_t leaf = 0; leaf < nodes.size(); ++leaf) {
    if (parent[leaf]) continue;
    std::vector<char> answered(end - first, rules_.shifted);
    for (const Ask& ask : question.asks) {
      int node = static_cast<int>(leaf);
      while (node != ask.node && node != kRoot) node = nodes[node].parent;
      if (node == ask.node)
        for (const std::int32_t position : ask.positions)
          if (position < end) answered[position - first] = 1;
    }
    Path path = paths[leaf];
    for (std::int32_t i = path.next; i < end; ++i)
      extend(path, i, canvas.masked(i) ? rules_.mask : canvas.token(i), rows);
    for (std::int32_t i = first; i < end; ++i) {
      Path own = path;
      if (!answered[i - first]) extend(own, i, rules_.mask, rows);
    }
  }
}

}  // namespace draftlab
