#include "core/parts/decode_options.h"

#include <algorithm>

namespace draftlab {

Blocks DecodeOptions::blocks(const Canvas& canvas) const {
  const auto size = static_cast<std::int32_t>(block_size);
  return {size, size > 0 && align == Align::prompt ? canvas.prompt_size() % size : 0,
          static_cast<std::int32_t>(sub_block)};
}

std::int64_t DecodeOptions::block_steps(std::int64_t positions) const {
  return steps > 0 ? steps : positions;
}

double DecodeOptions::temperature(std::int64_t made, std::int64_t positions) const {
  if (temperature_last < 0) return sampling.temperature;
  const auto all = static_cast<double>(block_steps(positions));
  const double left = std::max(0.0, all - static_cast<double>(made)) / all;
  return temperature_last + (sampling.temperature - temperature_last) * left;
}

}  // namespace draftlab
