// Every tile is attended in every group, once, however many there are.
#include <set>
#include <utility>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "plugins/models/nn/kernels/machine_torch.h"
#include "plugins/models/nn/transformer/row_memory_torch.h"

namespace draftlab {

DOCTEST_TEST_CASE(
    "attention visits every tile in every group once, also where there is one group or no tile") {
  struct Tile {
    const RowMemory* memory;
    std::int64_t number, seen;
  };
  use_threads(1);
  for (const std::int64_t groups : {1, 2, 5}) {
    for (const std::int64_t many : {0, 1, 3}) {
      DOCTEST_INFO(groups << " groups, " << many << " tiles");
      std::vector<RowMemory> memories(3, RowMemory(1, groups, 32, 16));
      for (RowMemory& memory : memories) memory.settle(Layout::f32);
      std::vector<Tile> tiles;
      for (std::int64_t t = 0; t < many; ++t) tiles.push_back({&memories[t], t, 16});
      std::set<std::pair<std::int64_t, std::int64_t>> visited;
      int visits = 0;
      attend_all(0, groups, tiles, [&](std::int64_t group, const Tile& tile) {
        visited.insert({group, tile.number}), ++visits;
      });
      DOCTEST_CHECK(visits == groups * many);
      DOCTEST_CHECK(static_cast<std::int64_t>(visited.size()) == groups * many);
    }
  }
}

}  // namespace draftlab
