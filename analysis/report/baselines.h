// Which row of a table every row is compared with.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "analysis/report/grouping.h"

namespace draftlab {

// The words of a baseline: "key=value ...", where the key may be `arm`.
bool is_baseline(const Frame& frame, const std::vector<int>& arms, const std::string& baseline);

// Returns the groups that a baseline names, of those that `has_samples` marks. Throws UsageError
// with all groups where it names none.
std::vector<int> groups_named(const Frame& frame, const Grouping& grouping,
                              const std::vector<char>& has_samples, const std::string& baseline);

// Returns the one group that all others are compared with; where nobody says, the stepwise
// drafter's, or the first. Throws UsageError where `baseline` names none or several.
int only_baseline(const Frame& frame, const Grouping& grouping, const std::string& baseline);

// What is known of the groups of a table.
struct Rows {
  const Frame& frame;
  const Grouping& grouping;
  // The prompts of each group; empty where it has no samples.
  const std::vector<std::set<int>>& prompts;
};

// Returns the baseline of each group. Where `baseline` names several groups, a row is compared with
// the one that is like it in most of the other keys. Throws UsageError with their list where two
// are alike in as many. Where it is empty, the baseline is the sweep's (`sweep.baseline`), else the
// stepwise drafter where it is not every row's, else the first group that decoded these prompts.
std::vector<int> baselines_of(const Rows& rows, const std::string& baseline);

}  // namespace draftlab
