// Which tree of drafts would have been accepted furthest (Sequoia, Chen et al., 2024): from how
// often the first, second, ... draft of a node was the accepted one, dynamic programming finds the
// best shape of each size. It takes these rates as independent of depth and path.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace draftlab {

inline constexpr int kMostDrafts = 256;

struct BestTree {
  // The tokens that a step commits in the mean, with the one behind the last accepted draft.
  double tokens = 1;
  int levels = 0;
  // The number of drafts behind the root and behind each draft in level order, without the zeros at
  // the end, as drafters take it; empty where there is no draft.
  std::string shape;
};
// Returns the best tree of at most `drafts` drafts and `levels` levels, where the k-th draft of a
// node is the accepted one with probability `rates[k]`.
BestTree best_tree(const std::vector<double>& rates, int drafts, int levels);

// A row a group: the rates that its traces tell, and the best trees of 1, 2, 4, ... drafts. Throws
// DataError where no drafts were recorded.
std::string tree_table(const Frame& frame, const ReportRequest& request, int drafts, int levels);

}  // namespace draftlab
