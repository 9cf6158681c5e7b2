#include "core/parts/decode_options.h"

namespace draftlab {

Blocks DecodeOptions::blocks(const Canvas& canvas) const {
  const auto size = static_cast<std::int32_t>(block_size);
  return {size, size > 0 && align == Align::prompt ? canvas.prompt_size() % size : 0,
          static_cast<std::int32_t>(sub_block)};
}

}  // namespace draftlab
