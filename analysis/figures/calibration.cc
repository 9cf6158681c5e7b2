// Do the estimators know how many drafts will be accepted, and does confidence mean what it says?
#include <algorithm>
#include <cmath>

#include "analysis/figures/bins.h"
#include "analysis/figures/figures.h"
#include "core/base/error.h"

namespace draftlab {
namespace {

constexpr std::size_t kParts = 10;

// Means of x and of y in bins of x: "x-mean y low high".
struct Curve {
  Bins x, y;
  explicit Curve(std::size_t series) : x(series, kParts), y(series, kParts) {}
  void add(std::size_t series, double at, double most, int prompt, double value) {
    const auto bin = std::min(kParts - 1, static_cast<std::size_t>(at / most * kParts));
    x.add(series, bin, prompt, at);
    y.add(series, bin, prompt, value);
  }
  std::string table(const std::vector<std::string>& names) const {
    std::string text;
    for (std::size_t series = 0; series < names.size(); ++series) {
      text += (series ? "\n\n" : "") + std::string("# ") + names[series] +
              "\n# mean x, mean y, low high\n";
      for (std::size_t bin = 0; bin < kParts; ++bin) {
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

}  // namespace

Picture calibration_figure(const PlotData& data) {
  const Expectations expectations(data.frame);
  const std::size_t arms = data.series(), verified = expectations.size(), accepted = verified + 1,
                    exact = verified + 2;
  std::vector<std::string> columns = expectations.columns;
  columns.insert(columns.end(), {"step_verified", "step_accepted", "step_exact"});
  // Curves of the estimators that routers read come first, an arm each, then those of the first
  // attached one, ...
  Curve prefix(arms * expectations.size()), drafts(arms);
  each_shown(data, {columns, Table::draft, {"draft_depth", "draft_accepted", "draft_confidence"}},
             [&](const ShownSample& sample) {
               const auto &steps = sample.block.steps, &rows = sample.block.rows;
               for (std::int64_t s = sample.begin; s < sample.end; ++s) {
                 if (steps[verified][s] == 0) continue;
                 for (std::size_t c = 0; c < expectations.size() && expectations.most > 0; ++c) {
                   if (const double expected = steps[c][s]; expected >= 0)
                     prefix.add(c * arms + sample.series, expected, expectations.most,
                                sample.prompt, steps[accepted][s]);
                 }
                 for (auto d = sample.block.row_begin[s]; d < sample.block.row_begin[s + 1]; ++d) {
                   // A structural acceptance tests nothing.
                   const bool judged = rows[1][d] >= 0 && rows[0][d] >= steps[exact][s];
                   if (const double c = rows[2][d]; judged && c >= 0)
                     drafts.add(sample.series, c, 1, sample.prompt, rows[1][d]);
                 }
               }
             });
  const bool estimated = !prefix.x.empty(), judged = !drafts.x.empty();
  if (!estimated && !judged) {
    throw DataError(
        "the figure 'calibration' needs an estimator's expectation (step_expected) or judged "
        "drafts with a confidence, and the traces hold neither");
  }
  // Every curve is an arm, and with attached estimators an estimator of an arm, which is a value
  // like those of config keys.
  std::vector<std::string> names;
  const std::vector<FigureItem> known = figure_items(data.grouping);
  std::vector<FigureItem> curves_of_prefix, curves_of_drafts;
  for (std::size_t curve = 0; curve < prefix.x.series(); ++curve) {
    const std::string estimator = curve < arms ? "" : expectations.attached[curve / arms - 1];
    FigureItem item = known[curve % arms];
    names.push_back(words_of(item) + (estimator.empty() ? "" : " " + estimator));
    item.group = static_cast<int>(curve);
    if (curve < arms && !drafts.x.empty(curve)) curves_of_drafts.push_back(item);
    if (prefix.x.empty(curve)) continue;
    if (!expectations.attached.empty())
      item.values.emplace_back("estimate", estimator.empty() ? "the router's" : estimator);
    curves_of_prefix.push_back(item);
  }
  Sheet sheet("calibration", {.across = 2, .panel_height = 200, .width = data.request.width});
  const auto panels = [&](const std::vector<FigureItem>& shown, const Curve& curve,
                          const std::string& file, const std::string& title, const std::string& x,
                          const std::string& y, double end) {
    sheet.data(file, curve.table({names.begin(),
                                  names.begin() + static_cast<std::ptrdiff_t>(curve.x.series())}));
    const Encoding roles = encode(shown, {.series = data.request.series});
    if (roles.panels.size() > 1) sheet.begin_row();
    AxisRange range;
    range.add(0), range.add(end);
    const std::string axes = range.commands('x', end == 1, 6) + range.commands('y', end == 1, 6);
    for (std::size_t row = 0; row < roles.panels.size(); ++row) {
      std::string commands = axes + "plot x with lines lc rgb '#888888' dt 2";
      for (const Encoding::Role& role : roles.roles) {
        if (role.panel != row && !role.reference) continue;
        const std::string block =
            ", \\\n  " + gnuplot_text(file) + " index " + std::to_string(role.group);
        const std::string mark = roles.mark(role), ink = mark.substr(0, mark.find(" pt"));
        commands += block + " using 1:3:4 with filledcurves " + ink +
                    " fs transparent solid 0.15 noborder" + block + " using 1:2 with linespoints " +
                    mark + " ps 0.5 lw 1.2";
      }
      sheet.panel(roles.panels[row].empty() ? title : roles.panels[row] + ": " + title, x, y,
                  commands);
    }
    return roles;
  };
  Encoding roles;
  if (judged)
    roles = panels(curves_of_drafts, drafts, "calibration_drafts.dat", "confidence and acceptance",
                   "the drafter's confidence in its token", "share accepted", 1);
  if (estimated) {
    const Encoding of_prefix =
        panels(curves_of_prefix, prefix, "calibration_prefix.dat", "expected and true prefix",
               "accepted prefix that the estimator expected", "accepted prefix", expectations.most);
    sheet.legend(of_prefix.legend());
    sheet.title(of_prefix.left_out);
  } else {
    sheet.legend(roles.legend());
    sheet.title(roles.left_out);
  }
  return sheet.picture(
      "Means in " + std::to_string(kParts) +
      " equal bins; on the dashed line, expectation and outcome agree. Verified steps; drafts that "
      "are the target's own draws left out. " +
      std::string(estimated ? "" : "No estimator was recorded, so there is no expected prefix. ") +
      sampling_note(data, std::max(prefix.x.prompts(), drafts.x.prompts()),
                    "bands: 95 % intervals from resampled prompts"));
}

}  // namespace draftlab
