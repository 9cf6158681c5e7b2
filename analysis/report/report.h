// The table of an experiment: arms in groups, quantities with intervals, each group against a
// baseline, paired by prompt and seed. Everything a reviewer may ask of the numbers is in here;
// analysis/report/report_print.h writes it down.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/quantity.h"
#include "analysis/statistics.h"

namespace draftlab {

struct ReportRequest {
  std::vector<std::string> by =
      {};  // config keys; empty: every arm is a group, seeds taken together
  std::vector<std::string> metrics = {};  // names of quantities; empty: the usual ones
  std::string pivot = {};                 // a key of `by` whose values become columns
  std::string baseline =
      {};  // "key=value ..."; empty: the stepwise drafter where there is one, else the first group
  std::string choose = {};  // a quantity: of each group only the arm that is best in it ...
  std::vector<std::string> tune =
      {};  // ... on these traces, or on the first N prompts of the traces themselves ("200")
  double confidence = 0.95;
};

// A group against its baseline, over the prompts that both decoded.
struct Versus {
  int prompts = 0;
  Estimate ratio;                                  // costs and rates; pointwise interval
  Estimate difference;                             // of prompt means; pointwise interval
  double p = kNotMeasured, p_holm = kNotMeasured;  // sign flips of prompt differences; Holm over
                                                   // the table's arms of this metric
  std::optional<Equivalence> equivalence;          // where a margin is declared
  std::optional<NonInferiority> non_inferiority;
  double needed =
      kNotMeasured;  // prompts to tell a ratio of kVisibleRatio from 1, where the interval holds 1
  std::string refused;  // why there is no comparison
};
inline constexpr double kVisibleRatio = 1.05;

struct ReportCell {
  Estimate value;  // over all samples of the group
  int prompts = 0, samples = 0;
  std::optional<Versus> versus;  // none: the group is a baseline
};

struct Report {
  std::vector<std::string> by;
  std::string pivot;
  std::vector<Quantity> quantities;
  struct Group {
    std::string name;
    std::vector<std::string> keys;  // values of `by`
    std::vector<int> arms;          // of the frame
    int baseline = -1;              // group that it is compared with; itself: a baseline
    std::vector<ReportCell> cells;  // aligned with quantities
  };
  std::vector<Group> groups;
  std::vector<std::string> findings;  // a sentence each: what is equivalent, no worse, or undecided
                                      // and how many prompts it takes
  std::vector<std::string> notes;     // how to read the table, and what was refused
  double confidence = 0.95;
};

// UsageError: an unknown metric, key or baseline. DataError: prompts that choose are reported as
// well.
Report make_report(const Frame& frame, const ReportRequest& request);

// "--metric help": name, unit and meaning.
std::string metric_help(const Frame& frame);

}  // namespace draftlab
