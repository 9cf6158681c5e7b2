// The table of an experiment: arms in groups, quantities with intervals, each group against a
// baseline, paired by prompt and seed. Everything a reviewer may ask of the numbers is in here;
// analysis/report/report_print.h writes it down.
#pragma once

#include <map>
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
  std::string speedup = {};  // with a pivot: a cost or rate whose factor stands behind each value
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
  std::string pivot, speedup;        // as in the request
  std::vector<Quantity> quantities;  // the columns of the table, in their order
  struct Group {
    std::string name;
    std::vector<std::string> keys;  // values of `by`
    std::vector<int> arms;          // of the frame
    int baseline = -1;              // group that it is compared with; itself: a baseline

    // The cell of a metric. A cell is asked for by name, never by place: the table may hold
    // columns that nobody asked for. Fault when the table has no such column.
    const ReportCell& cell(const std::string& metric) const;
    const ReportCell& cell(const Quantity& quantity) const { return cell(quantity.name); }
    std::map<std::string, ReportCell> cells = {};  // by the metric's name
  };
  std::vector<Group> groups;
  // What was found of a group against its baseline: better, worse, equivalent, or undecided and
  // how many prompts it takes.
  struct Finding {
    int group = 0;
    std::string sentence;
  };
  std::vector<Finding> findings;
  std::vector<std::string> notes;  // how to read the table, and what was refused
  std::string times_refused;       // why seconds are not compared; empty where they are
  double confidence = 0.95;

  std::string pair(int group) const;               // "ARM against BASELINE"
  std::string text(const Finding& finding) const;  // "ARM against BASELINE: SENTENCE."
};

// UsageError: an unknown metric, key or baseline. DataError: prompts that choose are reported as
// well.
Report make_report(const Frame& frame, const ReportRequest& request);

// "--metric help": name, unit and meaning.
std::string metric_help(const Frame& frame);

}  // namespace draftlab
