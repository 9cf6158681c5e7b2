// A cost surface: the seconds of forwards on a machine that somebody measured. `simulate` fits and
// reads the same files (docs/GPU.md).
#pragma once

#include <map>
#include <string>

namespace draftlab {

// The seconds of one forward: cached * (tokens in the caches) + row * rows + fixed.
struct ForwardSeconds {
  double cached = 0, row = 0, fixed = 0;
};

// The seconds of a step's drafts: a forward, and a share of what the target's forwards take.
struct DraftSeconds {
  ForwardSeconds forward;
  double share = 0;
};

struct CostSurface {
  std::string source;  // Who measured or fitted the numbers.
  ForwardSeconds target;
  std::map<std::string, DraftSeconds> drafts;  // By the name of the drafter.
  double engine = 0;                           // The seconds that every step takes besides.
};

// DataError names the first line, section or key that is at fault.
CostSurface read_cost_surface(const std::string& path);

}  // namespace draftlab
