#include "plugins/models/block_diffusion/block_rows_torch.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "plugins/models/nn/question_paths.h"

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
  cached_.resize(agreed());
  const std::int32_t end = cache_end(question);
  // In a right-shifted model, the last row answers about the position behind it. It is computed
  // once more where its answer was not asked for, as that of a draft, and no later row follows.
  if (rules_.shifted && boundary_position_ != cached() && cached() > 0 && end <= cached())
    cached_.resize(rules_.causal_cache ? cached() - 1 : blocks_.first(cached() - 1));
  return end;
}

std::int32_t BlockSequence::cache_end(const Question& question) const {
  if (question.kind != Kind::prefill && question.kind != Kind::commit)
    return final_end(!(rules_.causal_cache && rules_.ride && question.view == View::causal));
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
  if (rules_.shifted && last == end) {
    rows.back().asked = true;
    boundary_position_ = end;
  }
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

std::optional<BlockSequence::Region> BlockSequence::region(const Question& question) const {
  std::int32_t leftmost = canvas.length(), rightmost = -1;
  for (const Ask& ask : question.asks) {
    for (const std::int32_t position : ask.positions) {
      leftmost = std::min(leftmost, position);
      rightmost = std::max(rightmost, position);
    }
  }
  if (rightmost < 0) return std::nullopt;
  Region region{
      .first = blocks_.first(leftmost), .end = block_end(leftmost), .from = 0, .until = 0};
  if (region.first > cached())
    throw Fault("position {} was asked before the blocks left of it were finished", leftmost);
  // Several blocks of one position are denoised as one longer block.
  if (blocks_.size == 1)
    region.end = rightmost + (rules_.shifted ? 0 : 1);
  else if (rightmost >= region.end)
    throw Fault("positions {} and {} of two blocks were asked at once", leftmost, rightmost);
  region.from = region.first, region.until = region.end;
  // Of a block whose rows are kept, one part is computed.
  const std::int32_t part = blocks_.part_first(leftmost);
  if (kept_block_ == region.first && part == blocks_.part_first(rightmost) &&
      (rules_.part_cache == PartCache::once || (leftmost > part && !canvas.masked(part))))
    region.from = part, region.until = blocks_.part_end(part, canvas.length());
  return region;
}

std::vector<char> BlockSequence::answer_region(const Question& question, const Region& region,
                                               std::int64_t begin,
                                               std::vector<AnswerRow>& answers) const {
  std::vector<char> asked(region.until - region.from, 0);
  for (const Ask& ask : question.asks) {
    for (const std::int32_t position : ask.positions) {
      std::int32_t row = rules_.shifted ? position - 1 : position;
      if (row < region.first) {
        // In a right-shifted model, the row before the block answers its first position.
        if (region.first != cached())
          throw Fault("position {} was asked after its block was finished", position);
        answers.push_back({ask.node, position, AnswerRow::kBoundary});
        continue;
      }
      // S2D2's port reads a part's first position so.
      row = std::max(row, region.from);
      answers.push_back({ask.node, position, begin + row - region.from});
      asked[row - region.from] = 1;
    }
  }
  return asked;
}

// Notes that the rows of a region will stay, in slots from the block's end on.
void BlockSequence::keep(const Region& region) {
  if (region.until - region.from == region.end - region.first) kept_.clear();
  kept_ += std::to_string(region.from);
  for (std::int32_t i = region.from; i < region.until; ++i)
    kept_ += " " + std::to_string(token_at(i));
  kept_ += ";";
  kept_block_ = region.first;
  slots_ = region.end;
}

// Adds the block's tokens, masks where it is masked, each seeing the whole block and the cached
// blocks before it. Of a block whose rows are kept, it adds those of one part.
void BlockSequence::denoise(const Question& question, std::vector<MemoryRow>& rows,
                            std::vector<AnswerRow>& answers) {
  if (!question.nodes.empty())
    throw Fault("block-diffusion judges drafts in the causal view, not in the bidirectional one");
  const std::optional<Region> asked = region(question);
  if (!asked) return;
  const auto [first, end, from, until] = *asked;
  const std::vector<char> answering =
      answer_region(question, *asked, static_cast<std::int64_t>(rows.size()), answers);
  if (std::find(answering.begin(), answering.end(), 1) == answering.end()) return;
  if (keeps()) keep(*asked);

  std::int32_t mask = first;
  while (mask < end && !canvas.masked(mask)) ++mask;
  std::vector<std::int32_t> slots;
  for (std::int32_t i = first; i < end; ++i)
    slots.push_back(static_cast<std::int32_t>(take_slot()));
  for (std::int32_t i = from; i < until; ++i) {
    const std::int32_t seen = rules_.causal_draft && i < mask ? i + 1 - first : end - first;
    MemoryRow row{.memory = &memory_,
                  .position = i,
                  .token = token_at(i),
                  .slot = slots[i - first],
                  .limit = first};
    if (slots.front() == first)
      row.limit += seen;
    else
      row.extras.assign(slots.begin(), slots.begin() + seen);
    row.asked = answering[i - from];
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

BlockSequence::Chain BlockSequence::chain_for(const Question& question) const {
  std::int32_t start = canvas.length();
  for (const Node& node : question.nodes)
    if (node.parent == kRoot) start = std::min(start, node.position);
  for (const Ask& ask : question.asks) {
    for (const std::int32_t position : ask.positions) {
      if (ask.node == kRoot)
        start = std::min(start, position);
      else if (position <= question.nodes[ask.node].position)
        throw Fault("position {} was asked at a token that follows it", position);
    }
  }
  return {.question = question,
          .start = start,
          .root = {.limit = cached(), .extras = {}, .next = cached()},
          .paths = std::vector<Path>(question.nodes.size())};
}

void BlockSequence::place(Chain& chain, bool all, std::vector<MemoryRow>& rows) {
  const std::vector<Node>& nodes = chain.question.nodes;
  const std::vector<char> seen = seen_nodes(nodes, chain.question.asks);
  fill(chain.root, chain.start, rows);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!all && !seen[i]) continue;
    Path& path = chain.paths[i] = chain.at(nodes[i].parent);
    fill(path, nodes[i].position, rows);
    extend(path, nodes[i].position, nodes[i].token, rows);
  }
}

void BlockSequence::answer(const Chain& chain, std::vector<MemoryRow>& rows,
                           std::vector<AnswerRow>& answers) {
  for (const Ask& ask : chain.question.asks) {
    for (const std::int32_t position : ask.positions) {
      Path path = chain.at(ask.node);
      fill(path, position, rows);
      if (!rules_.shifted) extend(path, position, rules_.mask, rows);
      answers.push_back({ask.node, position, path.row});
      if (path.row != AnswerRow::kBoundary) rows[path.row].asked = true;
    }
  }
}

// The authors compute every row of the block and, with position-aligned logits, every mask row,
// once a path; so does this.
void BlockSequence::fill_block(const Chain& chain, std::vector<MemoryRow>& rows) {
  const Question& question = chain.question;
  const std::int32_t first = std::max(blocks_.first(chain.start), cached()),
                     end = block_end(chain.start);
  for (const int leaf : leaves_of(question.nodes)) {
    std::vector<char> answered(end - first, rules_.shifted);
    const std::vector<int> above = path_to(question.nodes, leaf);
    for (const Ask& ask : question.asks) {
      if (ask.node != kRoot && std::find(above.begin(), above.end(), ask.node) == above.end())
        continue;
      for (const std::int32_t position : ask.positions)
        if (position < end) answered[position - first] = 1;
    }
    Path path = chain.paths[leaf];
    for (std::int32_t i = path.next; i < end; ++i) extend(path, i, token_at(i), rows);
    for (std::int32_t i = first; i < end; ++i) {
      Path own = path;
      if (!answered[i - first]) extend(own, i, rules_.mask, rows);
    }
  }
}

// Adds the rows of block size 1, where a token sees what precedes it. Position-aligned models
// answer in a row that holds the mask token and sees the tokens before it and itself (the 2L
// trick); right-shifted ones answer in the row of the token before.
void BlockSequence::chain(const Question& question, std::vector<MemoryRow>& rows,
                          std::vector<AnswerRow>& answers) {
  Chain chain = chain_for(question);
  const bool whole = rules_.whole_block && !question.nodes.empty();
  place(chain, whole, rows);
  answer(chain, rows, answers);
  if (whole) fill_block(chain, rows);
  if (rules_.ride && (rules_.causal_cache || blocks_.size == 1)) keep_drafts(chain);
}

// A draft's row right behind the cache is the row that would cache its token. Which drafts were
// accepted, the canvas says when the next question begins.
void BlockSequence::keep_drafts(const Chain& chain) {
  for (std::size_t i = 0; i < chain.paths.size(); ++i) {
    const Path& path = chain.paths[i];
    const bool in_line = path.row != AnswerRow::kBoundary && path.extras.empty();
    if (in_line && chain.question.nodes[i].position == cached())
      cached_.push_back(chain.question.nodes[i].token);
  }
}

}  // namespace draftlab
