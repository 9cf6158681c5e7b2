// The figures of `draftlab plot`, a function each. DataError: what the traces lack for it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/figures/encoding.h"
#include "analysis/figures/sheet.h"
#include "analysis/frame/trajectories.h"
#include "analysis/report/grouping.h"
#include "analysis/report/report.h"

namespace draftlab {

class Bins;

struct PlotRequest {
  // The config keys that tell series apart; where there are none, every arm is a series.
  std::vector<std::string> by = {};
  std::string baseline = {};  // The baseline as "key=value ...".
  // The quantity upwards in `pareto` and in the cells of `heat`; where it is empty, a task's score,
  // or else perplexity.
  std::string score = {};
  std::string speed = "nfe";  // The quantity across in `pareto`.
  // The two keys of `heat`, of which `axis` has the first; where there are none, those with most
  // values, seeds left out.
  std::vector<std::string> axes = {};
  // The keys whose values are colours; where there are none, they are chosen.
  std::vector<std::string> series = {};
  std::string along = {};   // The key along which the arms of a series are joined.
  OrderReading order = {};  // How `ar` orders the tokens of one step.
  PageWidth width = PageWidth::double_column;
  // The metrics that can be asked for.
  const MetricRegistry* known = &builtin_metrics();
  // Those of them that a cost surface predicts, which `machine` shows beside its plane.
  std::vector<std::string> predicted = {};
};

// What an axis shows of each group: a metric, or its factor against the baseline. The label and the
// numbers come from the one metric that was asked for.
struct AxisQuantity {
  const Metric* quantity;
  bool factor = false;
  std::string label() const;  // Returns the title of an axis, such as "NFE, times fewer".
  Estimate of(const Report::Group& group) const;  // A baseline's factor is 1.
  int better() const { return factor ? 1 : quantity->better; }
  bool share() const;  // Says whether values lie between 0 and 1.
};

// What the figures are made from.
struct PlotData {
  const Frame& frame;
  const Metrics& quantities;
  const Grouping& grouping;
  const PlotRequest& request;

  std::size_t series() const { return grouping.groups.size(); }
  std::vector<std::string> names() const;    // Returns short names of the groups.
  int series_of(std::int64_t sample) const;  // Returns -1 where the sample does not count.
};

// The columns of steps, and of a table below them, that a figure reads.
struct ReadColumns {
  std::vector<std::string> steps;
  Table lower = Table::step;  // Table::step: there is none.
  std::vector<std::string> rows = {};
};

// A sample that a figure shows: its place in the block, its series and its prompt, and its steps
// [begin, end) of the block.
struct ShownSample {
  const Frame::Block& block;
  std::size_t place, series;
  int prompt;
  std::int64_t begin, end;
};

// A draft of a verified step: its sample, its step, and its row among those of the block.
struct ShownDraft {
  const ShownSample& sample;
  std::int64_t step, row;
  double of_step(std::size_t column) const { return sample.block.steps[column][step]; }
  double of_draft(std::size_t column) const { return sample.block.rows[column][row]; }
};

// Visits every draft of the verified steps. The columns that are read are "step_verified", then
// those named, and "draft_depth", then those named.
void each_draft(const PlotData& data, const std::vector<std::string>& steps,
                const std::vector<std::string>& drafts,
                const std::function<void(const ShownDraft&)>& visit);

// Visits every sample that a figure shows.
void each_shown(const PlotData& data, const ReadColumns& columns,
                const std::function<void(const ShownSample&)>& visit);

// The report that a figure draws from, of the metrics that it shows, by the keys `by`. DataError
// where times are among them and may not be compared: no figure shows them side by side.
struct ShownMetrics {
  std::string figure;
  std::vector<const Metric*> metrics;
  std::vector<std::string> by;
};
Report report_of(const PlotData& data, const ShownMetrics& shown);

// How many prompts the traces hold.
std::size_t prompts_of(const PlotData& data);

// The groups of a report as items, in their order.
std::vector<FigureItem> items_of(const PlotData& data, const Report& report);

Picture pareto_figure(const PlotData& data);  // Shows worth against speed, with the Pareto front.
Picture acceptance_figure(const PlotData& data);  // Shows acceptance by depth.
Picture progress_figure(const PlotData& data);    // Shows acceptance over the course of a decode.
Picture ar_figure(
    const PlotData& data);  // Shows AR-ness, confidence and tokens a step as decoding goes on.
// Shows the expected prefix against the true one, and confidence against acceptance.
Picture calibration_figure(const PlotData& data);
Picture router_figure(const PlotData& data);  // Shows decisions over a block.
Picture cost_figure(const PlotData& data);    // Shows forwards and seconds by kind.
Picture heat_figure(const PlotData& data);    // Shows two axes of a sweep.
Picture axis_figure(const PlotData& data);    // Shows one axis of a sweep.
// Shows the speedup that is predicted on other machines.
Picture machine_figure(const PlotData& data);
Picture training_figure(const std::vector<std::string>& paths,
                        PageWidth width);  // Shows the curves.h5 of trainings.

// A sheet whose panels show the curves of bins: one row of panels for every panel of the encoding,
// the arms without data left out.
struct CurvePanel {
  const Bins* bins;
  std::string file, title, x_label, y_label, commands, more = {};
};
struct CurveSheet {
  std::string name;
  std::vector<CurvePanel> panels;
  std::vector<double> x;  // Where the bins stand.
  std::string note;       // How the caption begins.
};
Picture curve_figure(const PlotData& data, const CurveSheet& curves);

// The keys that the arms' names are made of, "drafter=self decode.draft_length=5"; else all in
// which arms differ.
std::vector<std::string> swept_keys(const Frame& frame);
// Says whether arms that differ in this key alone are repetitions of one another.
bool is_seed(const std::string& key);
// The values of a key, numbers by size.
std::vector<std::string> values_of(const Frame& frame, const std::string& key);

// The quantity that a figure shows as worth.
std::string chosen_score(const PlotData& data);
// The sentence that every caption ends with.
std::string sampling_note(const PlotData& data, std::size_t prompts, const std::string& intervals);

}  // namespace draftlab
