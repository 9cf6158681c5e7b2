// The figures of `draftlab plot`, a function each. DataError: what the traces lack for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/figures/cast.h"
#include "analysis/figures/sheet.h"
#include "analysis/grouping.h"
#include "analysis/report/report.h"
#include "analysis/trajectories.h"

namespace draftlab {

class Bins;

struct PlotRequest {
  std::vector<std::string> by = {};  // config keys; empty: every arm is a series
  std::string baseline = {};         // "key=value ..."
  std::string score = {};  // quantity upwards in `pareto`, in the cells of `heat`; empty: a task's
                           // score, else perplexity
  std::string speed = "nfe";  // quantity across in `pareto`
  std::vector<std::string> axes =
      {};  // the two keys of `heat`, the first that of `axis`; empty: those with most values
  std::vector<std::string> series = {};  // keys whose values are colours; empty: chosen
  std::string along = {};                // key along which the arms of a series are joined
  OrderReading order = {};               // of the tokens of one step, in `ar`
  PageWidth width = PageWidth::double_column;
};

// What an axis shows of each group: a metric, or its factor against the baseline. The label and the
// numbers come from the one metric that was asked for.
struct Reading {
  const Quantity* quantity;
  bool factor = false;
  std::string label() const;                      // "NFE, times fewer"
  Estimate of(const Report::Group& group) const;  // a baseline's factor is 1
  int better() const { return factor ? 1 : quantity->better; }
  bool share() const;  // lies between 0 and 1
};

// What the figures are made from.
struct PlotData {
  const Frame& frame;
  const Quantities& quantities;
  const Grouping& grouping;
  const PlotRequest& request;

  std::size_t series() const { return grouping.groups.size(); }
  std::vector<std::string> names() const;    // of the groups, short
  int series_of(std::int64_t sample) const;  // -1: the sample does not count
};

// The groups of a report as actors, in their order.
std::vector<Actor> actors_of(const PlotData& data, const Report& report);

// DataError where times may not be compared, with the reason: no figure shows them side by side.
void refuse_times(const PlotData& data, const Quantity& quantity, const std::string& figure);

Picture pareto_figure(const PlotData& data);      // worth against speed, with the Pareto front
Picture acceptance_figure(const PlotData& data);  // by depth
Picture progress_figure(const PlotData& data);    // acceptance over the course of a decode
Picture ar_figure(
    const PlotData& data);  // AR-ness, confidence and tokens a step as decoding goes on
Picture calibration_figure(
    const PlotData& data);  // expected against true prefix; confidence against acceptance
Picture router_figure(const PlotData& data);   // decisions over a block
Picture cost_figure(const PlotData& data);     // forwards and seconds by kind
Picture heat_figure(const PlotData& data);     // two axes of a sweep
Picture axis_figure(const PlotData& data);     // one axis of a sweep
Picture machine_figure(const PlotData& data);  // predicted speedup on other machines
Picture training_figure(const std::vector<std::string>& paths,
                        PageWidth width);  // curves.h5 of trainings

// A sheet whose panels show the curves of bins: one row of panels for every panel of the cast, the
// arms without data left out.
struct CurvePanel {
  const Bins* bins;
  std::string file, title, x_label, y_label, commands, more = {};
};
Picture curve_figure(const PlotData& data, const std::string& name,
                     const std::vector<CurvePanel>& panels, const std::vector<double>& x,
                     const std::string& note);

// The keys that the arms' names are made of, "drafter=self decode.draft_length=5"; else all in
// which arms differ.
std::vector<std::string> swept_keys(const Frame& frame);
// The values of a key, numbers by size.
std::vector<std::string> values_of(const Frame& frame, const std::string& key);
std::optional<double> number_of(const std::string& text);
// "decode.draft_length=5 drafter=self" without the sections: "draft_length=5 drafter=self".
std::string short_name(const std::string& name);

// The quantity that a figure shows as worth.
std::string chosen_score(const PlotData& data);
// The sentence that every caption ends with.
std::string sampling_note(const PlotData& data, std::size_t prompts, const std::string& intervals);

}  // namespace draftlab
