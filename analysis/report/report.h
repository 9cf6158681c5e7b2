// The table of an experiment: arms in groups, quantities with intervals, each group against a
// baseline, paired by prompt and seed. Everything a reviewer may ask of the numbers is in here;
// analysis/report/report_print.h writes it down.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/metrics/metrics.h"
#include "analysis/report/statistics.h"
#include "analysis/report/words.h"

namespace draftlab {

// A family of tests: those of one metric against one baseline, those of one metric, or all.
enum class Family { baseline, table, all };
constexpr std::array<std::string_view, 3> words(Family) { return {"baseline", "table", "all"}; }

struct ReportRequest {
  // Config keys; where there are none, every arm is a group, with its seeds taken together.
  std::vector<std::string> by = {};
  // The names of quantities; where there are none, the usual ones.
  std::vector<std::string> metrics = {};
  std::string pivot = {};    // A key of `by` whose values become columns.
  std::string speedup = {};  // With a pivot: a cost or rate whose factor stands behind each value.
  // The baseline as "key=value ..."; where it is empty, the group that decodes sequentially if
  // there is one, else the first.
  std::string baseline = {};
  // A quantity: of each group only the arm that is best in it is reported.
  std::string choose = {};
  // Which p values Holm's correction takes together.
  Family family = Family::baseline;
  std::vector<std::string> tune =
      {};  // The traces on which arms are chosen, or how many of the first prompts choose ("200").
  double confidence = 0.95;
  // The metrics that can be asked for.
  const MetricRegistry* known = &builtin_metrics();
};

// A group against its baseline, over the prompts that both decoded.
struct Versus {
  int prompts = 0, samples = 0;
  Estimate ratio;       // The ratio of costs and rates, with a pointwise interval.
  Estimate difference;  // The difference of prompt means, with a pointwise interval.
  // From the test that the interval inverts, and after Holm over the family; not a number where
  // there are too few prompts, or no prompt has a value by itself.
  double p = kNotMeasured, p_holm = kNotMeasured;
  std::optional<Equivalence> equivalence;  // It is there where a margin is declared.
  std::optional<NonInferiority> non_inferiority;
  // The prompts that tell a ratio of kVisibleRatio from 1, where the interval holds 1.
  double needed = kNotMeasured;
  std::string refused;  // Why there is no comparison.
};
inline constexpr double kVisibleRatio = 1.05;

struct ReportCell {
  // The value over all samples of the group; where it is compared, over those that have a partner.
  Estimate value;
  int prompts = 0, samples = 0;
  std::optional<Versus> versus;  // A baseline has none.
};

struct Report {
  std::vector<std::string> by;
  std::string pivot, speedup;      // The pivot and speedup of the request.
  std::vector<Metric> quantities;  // The columns of the table, in their order.
  struct Group {
    std::string name;
    std::vector<std::string> keys;  // The group's values of `by`.
    std::vector<int> arms;          // The group's arms in the frame.
    int baseline = -1;              // The group that it is compared with; a baseline has itself.

    // The cell of a metric. A cell is asked for by name, never by place: the table may hold
    // columns that nobody asked for. Fault when the table has no such column.
    const ReportCell& cell(const std::string& metric) const;
    const ReportCell& cell(const Metric& quantity) const { return cell(quantity.name); }
    std::map<std::string, ReportCell> cells = {};  // The cells by the metric's name.
    int samples = 0;                               // How many samples the group has.
    ArmName called = {};                           // The parts of its name.
  };
  std::vector<Group> groups;
  // What was found of a group against its baseline: better, worse, equivalent, or undecided and
  // how many prompts it takes.
  struct Finding {
    int group = 0;
    std::string sentence;
    std::string brief = {};  // The same in few words.
  };
  std::vector<Finding> findings;
  // Returns what was found of a group in few words: the verdict's column of a table.
  std::string found(int group) const;
  std::vector<std::string> notes;  // How to read the table, and what was refused.
  std::string times_refused;       // Why seconds are not compared; it is empty where they are.
  double confidence = 0.95;
  Family family = Family::baseline;  // Which p values Holm's correction took together.

  std::string pair(int group) const;               // Returns "ARM against BASELINE".
  std::string text(const Finding& finding) const;  // Returns "ARM against BASELINE: SENTENCE.".
};

// UsageError: an unknown metric, key or baseline. DataError: prompts that choose are reported as
// well.
Report make_report(const Frame& frame, const ReportRequest& request);

// "--metric help": name, unit and meaning.
std::string metric_help(const Frame& frame, const MetricRegistry& known = builtin_metrics());

}  // namespace draftlab
