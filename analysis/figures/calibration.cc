// Do the estimators know how many drafts will be accepted, and does confidence mean what it says?
#include <algorithm>
#include <cmath>

#include "analysis/figures/bins.h"
#include "analysis/figures/figures.h"
#include "core/base/error.h"

namespace draftlab {
namespace {

constexpr std::size_t kBins = 10;
constexpr std::size_t kMostCurves = 48;  // The most curves that are shown, a panel each.
constexpr std::size_t kLarge = 6;        // So many panels may be large.

// Means of x and of y in bins of x: "x-mean y low high".
struct Curve {
  Bins x, y;
  explicit Curve(std::size_t series) : x(series, kBins), y(series, kBins) {}
  // Adds an outcome to the bin of `at`, which is at most `most`.
  struct Outcome {
    double at, value;
  };
  void add(std::size_t series, int prompt, const Outcome& outcome, double most) {
    const auto bin = std::min(kBins - 1, static_cast<std::size_t>(outcome.at / most * kBins));
    x.add({series, bin, prompt}, outcome.at);
    y.add({series, bin, prompt}, outcome.value);
  }
  std::string table(const std::vector<std::string>& names) const {
    std::string text;
    for (std::size_t series = 0; series < x.series(); ++series) {
      text += (series ? "\n\n" : "") + std::string("# ") + names[series] +
              "\n# mean x, mean y, low high\n";
      for (std::size_t bin = 0; bin < kBins; ++bin) {
        if (!x.empty(series, bin))
          text += number_text(x.at(series, bin).value) + " " +
                  estimate_text(bounded(y.at(series, bin))) + "\n";
      }
      if (x.empty(series)) text += "NaN NaN NaN NaN\n";
    }
    return text;
  }
};

// The expectations of a trace: of the estimator that the router reads, and of every attached one. A
// curve each, and in every arm.
struct Expectations {
  std::vector<std::string> attached, columns;
  double most = 0;  // The largest value of all.
  explicit Expectations(const Frame& frame)
      : attached(frame.estimators()), columns{"step_expected"} {
    for (const std::string& name : attached) columns.push_back("step_expected_" + name);
    std::vector<std::string> read = columns;
    read.push_back("step_verified");
    frame.walk(read, [&](const Frame::Block& block) {
      for (std::size_t c = 0; c < columns.size(); ++c) {
        for (std::size_t s = 0; s < block.steps[c].size(); ++s)
          if (block.steps.back()[s] != 0 && block.steps[c][s] > most) most = block.steps[c][s];
      }
    });
  }
  std::size_t size() const { return columns.size(); }
};

// Both kinds of curves: of the drafter's confidence, an arm each, and of the estimators. Of these,
// curves of the estimators that routers read come first, an arm each, then those of the first
// attached one, ...
struct CalibrationCurves {
  Curve drafts, prefix;
};

CalibrationCurves curves_of(const PlotData& data, const Expectations& expectations) {
  const std::size_t arms = data.series(), verified = expectations.size(), accepted = verified + 1,
                    exact = verified + 2;
  std::vector<std::string> columns = expectations.columns;
  columns.insert(columns.end(), {"step_verified", "step_accepted", "step_exact"});
  CalibrationCurves all{Curve(arms), Curve(arms * expectations.size())};
  each_shown(data, {columns, Table::draft, {"draft_depth", "draft_accepted", "draft_confidence"}},
             [&](const ShownSample& sample) {
               const auto &steps = sample.block.steps, &rows = sample.block.rows;
               for (std::int64_t s = sample.begin; s < sample.end; ++s) {
                 if (steps[verified][s] == 0) continue;
                 for (std::size_t c = 0; c < expectations.size() && expectations.most > 0; ++c) {
                   if (const double expected = steps[c][s]; expected >= 0)
                     all.prefix.add(c * arms + sample.series, sample.prompt,
                                    {expected, steps[accepted][s]}, expectations.most);
                 }
                 for (auto d = sample.block.row_begin[s]; d < sample.block.row_begin[s + 1]; ++d) {
                   // A structural acceptance tests nothing.
                   const bool judged = rows[1][d] >= 0 && rows[0][d] >= steps[exact][s];
                   if (const double c = rows[2][d]; judged && c >= 0)
                     all.drafts.add(sample.series, sample.prompt, {c, rows[1][d]}, 1);
                 }
               }
             });
  if (all.drafts.x.empty() && all.prefix.x.empty())
    throw DataError(
        "the figure 'calibration' needs an estimator's expectation (step_expected) or judged "
        "drafts with a confidence, and the traces hold neither");
  return all;
}

// One of the two kinds: a panel for each curve, with the mark of its arm.
struct Panels {
  const Curve& curve;
  std::string file, title, x_label, y_label;
  double end;                      // Where both axes end.
  std::vector<std::string> names;  // The names of the curves.
  std::size_t arms;                // The number of arms; a curve has the mark of its arm.

  std::vector<std::size_t> shown() const {
    std::vector<std::size_t> list;
    for (std::size_t c = 0; c < names.size(); ++c)
      if (!curve.x.empty(c)) list.push_back(c);
    return list;
  }

  void draw(Sheet& sheet, std::size_t most, bool small) const {
    const std::vector<std::size_t> all = shown();
    if (all.empty() || most == 0) return;
    sheet.data(file, curve.table(names));
    sheet.begin_row();
    AxisRange range;
    range.add(0), range.add(end);
    const std::string axes =
        range.commands('x', end == 1, small ? 3 : 5) + range.commands('y', end == 1, 5);
    for (std::size_t i = 0; i < std::min(all.size(), most); ++i) {
      const std::string from = gnuplot_text(file) + " index " + std::to_string(all[i]),
                        mark = point_style(all[i] % arms % kMarks);
      const bool one = all.size() == 1;
      sheet.panel(one ? title : names[all[i]], x_label, y_label,
                  axes + "plot x with lines lc rgb '#888888' dt 2, \\\n  " + from +
                      " using 1:3:4 with filledcurves " + ink_of(mark) +
                      " fs transparent solid 0.15 noborder, \\\n  " + from +
                      " using 1:2 with linespoints " + mark + " ps 0.5 lw 1.2");
    }
  }
};

}  // namespace

Picture calibration_figure(const PlotData& data) {
  const Expectations expectations(data.frame);
  const CalibrationCurves curves = curves_of(data, expectations);
  const std::vector<std::string> arms = data.names();
  std::vector<std::string> estimates;
  for (std::size_t c = 0; c < curves.prefix.x.series(); ++c)
    estimates.push_back(arms[c % arms.size()] +
                        (c < arms.size() ? "" : " " + expectations.attached[c / arms.size() - 1]));
  const Panels kinds[] = {
      {curves.drafts, "calibration_drafts.dat", "confidence and acceptance", "drafter's confidence",
       "share accepted", 1, arms, arms.size()},
      {curves.prefix, "calibration_prefix.dat", "expected and true prefix", "expected prefix",
       "accepted prefix", expectations.most, estimates, arms.size()}};
  const std::size_t drafts = kinds[0].shown().size(), prefixes = kinds[1].shown().size(),
                    panels = drafts + prefixes;
  const bool small = panels > kLarge;
  Sheet sheet("calibration", {.across = small ? 5 : std::min<std::size_t>(panels, 3),
                              .panel_height = small         ? 120
                                              : panels == 1 ? 240
                                                            : 190,
                              .narrowest = small ? 100 : 150,
                              .width = data.request.width});
  if (panels > kMostCurves)
    sheet.title("The first " + std::to_string(kMostCurves) + " of " + std::to_string(panels) +
                " curves: --by KEY,... takes arms together");
  // The estimators come first where not all fit.
  const std::size_t of_prefix = std::min(prefixes, kMostCurves),
                    of_drafts = std::min(drafts, kMostCurves - of_prefix);
  kinds[0].draw(sheet, of_drafts, small);
  kinds[1].draw(sheet, of_prefix, small);
  return sheet.picture(
      "Means in " + std::to_string(kBins) +
      " equal bins, a panel each arm, and each estimator; on the dashed line, expectation and "
      "outcome agree. Verified steps; drafts that are the target's own draws left out. " +
      std::string(prefixes > 0 ? ""
                               : "No estimator was recorded, so there is no expected prefix. ") +
      sampling_note(data, std::max(curves.prefix.x.prompts(), curves.drafts.x.prompts()),
                    "bands: 95 % intervals from resampled prompts"));
}

}  // namespace draftlab
