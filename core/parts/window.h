// The positions that one step of the loop may fill.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/prob/types.h"

namespace draftlab {

// A list of positions in the order in which they are to be committed.
struct Window {
  // The list is empty in a step that can only edit.
  std::vector<std::int32_t> positions;
  // How many leading positions a chain may judge.
  int span = 0;
  // Why a fully accepted span ends where it does.
  Stop boundary = Stop::complete;
  // The index of the block; 0 where there are no blocks.
  int block = 0;
  bool holds(std::int32_t position) const {
    return std::find(positions.begin(), positions.end(), position) != positions.end();
  }
};

}  // namespace draftlab
