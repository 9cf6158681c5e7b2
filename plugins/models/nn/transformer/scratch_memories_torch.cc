#include "plugins/models/nn/transformer/scratch_memories_torch.h"

namespace draftlab {

RowMemory& ScratchMemories::take(std::int64_t slots) {
  if (taken_ == memories_.size()) memories_.push_back(std::make_unique<RowMemory>(config_, slots));
  RowMemory& memory = *memories_[taken_++];
  memory.reserve(slots);
  return memory;
}

}  // namespace draftlab
