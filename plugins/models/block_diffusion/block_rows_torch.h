// Decides which rows of the transformer a question about a block needs, and what each of them sees.
// It keeps one sequence's cache in step with its canvas.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/blocks.h"
#include "core/model/model.h"
#include "plugins/models/block_diffusion/block_diffusion.h"
#include "plugins/models/nn/transformer/transformer_rows_torch.h"

namespace draftlab {

struct BlockRules {
  // Cached rows see the tokens before them, not their whole block.
  bool causal_cache = false;
  // Denoising rows before the block's first mask also see only the tokens before them.
  bool causal_draft = false;
  // Final positions are cached in the next forward, whatever it is for.
  bool ride = false;
  // Verification computes every row of the block.
  bool whole_block = false;
  PartCache part_cache = PartCache::off;
  // The answer for a position stands in the row before.
  bool shifted = false;
  Token mask = kNoToken;
};

// The place of the answer to an asked position.
struct AnswerRow {
  int node = kRoot;
  std::int32_t position = 0;
  std::int64_t row = kBoundary;
  // This value stands for the last cached row.
  static constexpr std::int64_t kBoundary = -1;
};

// Slots [0, cached) of the memory hold final positions, a slot a position; those above belong to
// the question being answered. A cache of parts keeps the rows that denoising computed of a block
// in slots of their own, as many as the block has positions, from the block's end on.
class BlockSequence final : public Sequence {
 public:
  BlockSequence(const Canvas& canvas, const Blocks& blocks, const BlockRules& rules,
                const TransformerConfig& config);

  // The forward that is due (Model::due), and one past the last position that it caches.
  struct Due {
    Kind kind;
    std::int32_t end;
  };
  std::optional<Due> due() const;

  // Forgets the drafts that the canvas contradicts. Returns one past the last position that a
  // question needs in the cache.
  std::int32_t begin(const Question& question);
  // Adds rows that cache positions before `end`, one block or a few hundred tokens at a time.
  // Returns false when none is missing.
  bool add_final_rows(std::int32_t end, std::vector<MemoryRow>& rows);
  // Returns the tokens of the denoising rows that are kept, in the order of their computation.
  std::string state() const override { return kept_; }
  // Adds the rows of the question itself.
  void add_question_rows(const Question& question, std::vector<MemoryRow>& rows,
                         std::vector<AnswerRow>& answers);

  // In a right-shifted model: what the last row that was cached answers about the position behind
  // it.
  Distribution boundary;
  std::int32_t cached() const { return static_cast<std::int32_t>(cached_.size()); }
  const RowMemory& memory() const { return memory_; }

 private:
  // What a row of a drafted path sees.
  struct Path {
    std::int64_t limit;
    std::vector<std::int32_t> extras;
    // The position after its last token.
    std::int32_t next;
    // The row of that token.
    std::int64_t row = AnswerRow::kBoundary;
  };
  bool is_final(std::int32_t position) const {
    return !canvas.masked(position) && !canvas.tentative(position);
  }
  std::int32_t agreed() const;
  std::int32_t final_end(bool whole_blocks) const;
  std::int32_t given_end() const;
  // Returns one past the last position that a question needs in the cache.
  std::int32_t cache_end(const Question& question) const;
  std::int32_t block_end(std::int32_t position) const {
    return blocks_.end(position, canvas.length());
  }
  std::int64_t take_slot();
  void extend(Path& path, std::int32_t position, Token token, std::vector<MemoryRow>& rows);
  void fill(Path& path, std::int32_t until, std::vector<MemoryRow>& rows);
  // The block [first, end) that is denoised, of which the positions [from, until) are computed.
  struct Region {
    std::int32_t first, end, from, until;
  };
  std::optional<Region> region(const Question& question) const;
  // Says which positions of the region have rows that answer, and where all answers will stand when
  // the rows begin at `begin`.
  std::vector<char> answer_region(const Question& question, const Region& region,
                                  std::int64_t begin, std::vector<AnswerRow>& answers) const;
  Token token_at(std::int32_t position) const {
    return canvas.masked(position) ? rules_.mask : canvas.token(position);
  }
  void keep(const Region& region);
  void denoise(const Question& question, std::vector<MemoryRow>& rows,
               std::vector<AnswerRow>& answers);
  bool keeps() const { return rules_.part_cache != PartCache::off; }
  // What the nodes of a causal question see. The first position that is drafted or asked on the
  // committed state is `start`.
  struct Chain {
    const Question& question;
    std::int32_t start;
    Path root;
    std::vector<Path> paths;
    const Path& at(int node) const { return node == kRoot ? root : paths[node]; }
  };
  Chain chain_for(const Question& question) const;
  void chain(const Question& question, std::vector<MemoryRow>& rows,
             std::vector<AnswerRow>& answers);
  // Adds the rows of the drafted tokens that an ask sees, or of all.
  void place(Chain& chain, bool all, std::vector<MemoryRow>& rows);
  void answer(const Chain& chain, std::vector<MemoryRow>& rows, std::vector<AnswerRow>& answers);
  void fill_block(const Chain& chain, std::vector<MemoryRow>& rows);
  void keep_drafts(const Chain& chain);

  Blocks blocks_;
  BlockRules rules_;
  RowMemory memory_;
  std::vector<Token> cached_;
  // The position that `boundary` answers; -1 before there is one.
  std::int32_t boundary_position_ = -1;
  // The slots taken so far.
  std::int64_t slots_ = 0;
  // The first position of the block whose denoising rows are kept; -1 where there is none.
  std::int32_t kept_block_ = -1;
  std::string kept_;
};

}  // namespace draftlab
