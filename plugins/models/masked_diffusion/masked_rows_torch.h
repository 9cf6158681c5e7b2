// Which rows of the transformer a question to a masked-diffusion model needs, and what each of them
// sees. Keeps one sequence's cache, which is what the last forward of the whole canvas left: a
// forward in between reads it and leaves it alone, so that an answer depends on the canvas then and
// now, and on nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/parts/blocks.h"
#include "core/parts/model.h"
#include "plugins/models/transformer/scratch_memories_torch.h"
#include "plugins/models/transformer/transformer_rows_torch.h"

namespace draftlab {

enum class CanvasCache { none, prefix, dual };
enum class Riding { none, own, root };

struct CacheRules {
  CanvasCache cache = CanvasCache::none;
  Riding ride = Riding::none;  // drafted tokens in the forward that refreshes
  std::int64_t refresh =
      0;                 // committed tokens from one refresh to the next; 0: where a block begins
  bool cross = false;    // drafted tokens past a refresh are answered from the old cache
  bool shifted = false;  // the answer for a position stands in the row before
  Token mask = kNoToken;
};

// Where the answer to an asked position stands.
struct AskedRow {
  int node = kRoot;
  std::int32_t position = 0;
  std::size_t row = 0;
};

class MaskedSequence final : public Sequence {
 public:
  MaskedSequence(const Canvas& canvas, const Blocks& blocks, const CacheRules& rules,
                 const TransformerConfig& config);

  int horizon() const override;
  std::string state() const override;  // what the cache was computed from
  // Adds the rows of a question, and tells how many states it computes: batch rows. Fault when a
  // node lies past the horizon.
  std::int64_t add_rows(const Question& question, ScratchMemories& scratch,
                        std::vector<MemoryRow>& rows, std::vector<AskedRow>& answers);

 private:
  // The canvas with the tokens of a path on it.
  struct State {
    int node = kRoot;
    std::vector<Token> tokens;            // the mask where masked
    std::int32_t open = 0;                // its first position that is not final
    std::vector<std::int32_t> positions;  // asked
  };
  // The positions [begin, end) that are computed afresh; what lies around them comes from the
  // cache.
  struct Region {
    std::int32_t begin, end;
  };

  bool cached() const { return rules_.cache != CanvasCache::none; }
  bool stale() const;  // the next forward is a refresh
  std::int32_t open() const;
  std::vector<State> states(std::span<const Node> nodes, const std::vector<Ask>& asks) const;
  Region region(std::int32_t open) const;
  void add(const State& state, Region region, RowMemory& memory, const Outside& outside,
           std::vector<MemoryRow>& rows, std::vector<AskedRow>& answers) const;

  Blocks blocks_;
  CacheRules rules_;
  RowMemory cache_;          // slot = position
  std::vector<Token> seen_;  // the tokens that it was computed from; empty: there is none
  std::int32_t anchor_ = 0;  // where the current block began then
  int committed_ = 0;        // tokens that had been committed then
};

}  // namespace draftlab
