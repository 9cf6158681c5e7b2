// Decides which rows of the transformer a question to a masked-diffusion model needs, and what each
// of them sees. It keeps one sequence's cache, which is what the last forward of the whole canvas
// left. A forward in between reads the cache and does not change it, so an answer depends on the
// canvas then and now, and on nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/model/blocks.h"
#include "core/model/model.h"
#include "core/model/refreshed.h"
#include "plugins/models/masked_diffusion/masked_diffusion.h"
#include "plugins/models/nn/transformer/scratch_memories_torch.h"
#include "plugins/models/nn/transformer/transformer_rows_torch.h"

namespace draftlab {

struct CacheRules {
  CanvasCache cache = CanvasCache::none;
  // Whether drafted tokens are computed in the forward that refreshes.
  DraftsInRefresh ride = DraftsInRefresh::none;
  // The number of committed tokens from one refresh to the next; 0 refreshes where a block begins.
  std::int64_t refresh = 0;
  // Whether drafted tokens past a refresh are answered from the old cache.
  bool cross = false;
  // Whether the answer for a position stands in the row before.
  bool shifted = false;
  // kNoToken where the model reads a random canvas.
  Token mask = kNoToken;
};

// The place of the answer to an asked position.
struct AskedRow {
  int node = kRoot;
  std::int32_t position = 0;
  std::size_t row = 0;
};

class MaskedSequence final : public Sequence, public Refreshed {
 public:
  MaskedSequence(const Canvas& canvas, const Blocks& blocks, const CacheRules& rules,
                 const TransformerConfig& config);

  int horizon() const override;
  bool spent() const override;
  // Returns what the cache was computed from.
  std::string state() const override;
  // Adds the rows of a question. Returns how many states, that is batch rows, it computes. Throws a
  // Fault when a node lies past the horizon.
  std::int64_t add_rows(const Question& question, ScratchMemories& scratch,
                        std::vector<MemoryRow>& rows, std::vector<AskedRow>& answers);

 private:
  // The canvas with the tokens of a path on it.
  struct State {
    int node = kRoot;
    // The tokens; where masked, the mask token or what a random canvas shows.
    std::vector<Token> tokens;
    // Its first position that is not final.
    std::int32_t open = 0;
    // The noise level of what is masked then.
    float noise = 0;
    // The positions that are asked.
    std::vector<std::int32_t> positions;
  };
  // The positions [begin, end) that are computed afresh. What lies around them comes from the
  // cache.
  struct Region {
    std::int32_t begin, end;
  };

  bool cached() const { return rules_.cache != CanvasCache::none; }
  // Says whether the next forward is a refresh.
  bool stale() const;
  std::int32_t open() const;
  std::vector<State> states(std::span<const Node> nodes, const std::vector<Ask>& asks) const;
  Region region(std::int32_t open) const;
  // Where a state is computed: the region, in a memory, beside what comes from the cache.
  struct Place {
    Region region;
    RowMemory& memory;
    Outside outside;
  };
  void add(const State& state, const Place& place, std::vector<MemoryRow>& rows,
           std::vector<AskedRow>& answers) const;

  Blocks blocks_;
  CacheRules rules_;
  // A slot stands for the position of the same number.
  RowMemory cache_;
  // The tokens that the cache was computed from; empty when there is no cache.
  std::vector<Token> seen_;
  // Where the current block began then.
  std::int32_t anchor_ = 0;
  // How many tokens had been committed then.
  int committed_ = 0;
};

}  // namespace draftlab
