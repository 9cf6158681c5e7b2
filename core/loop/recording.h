// How much is recorded of each step.
#pragma once

#include <cstdint>

namespace draftlab {

struct Recording {
  // How many of the most probable tokens are recorded for each drafted position.
  std::int64_t top_k = 0;
  // Whether the most that any rule could accept is computed for each node that was judged.
  bool limits = false;
};

}  // namespace draftlab
