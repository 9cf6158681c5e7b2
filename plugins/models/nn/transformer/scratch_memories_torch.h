// Memories that live for one forward and are reused for the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/models/nn/transformer/row_memory_torch.h"

namespace draftlab {

// The memories of states that only one forward needs; all sequences take them from here.
class ScratchMemories {
 public:
  explicit ScratchMemories(const TransformerConfig& config) : config_(config) {}
  // Frees all of them for the next forward.
  void begin() { taken_ = 0; }
  RowMemory& take(std::int64_t slots);

 private:
  TransformerConfig config_;
  std::vector<std::unique_ptr<RowMemory>> memories_;
  std::size_t taken_ = 0;
};

}  // namespace draftlab
