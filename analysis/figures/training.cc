// The curves of trainings: what `draftlab train` writes into curves.h5.
#include <algorithm>
#include <cmath>

#include "analysis/figures/figures.h"
#include "analysis/frame/trainings.h"
#include "core/base/error.h"
#include "core/trace/curves.h"

namespace draftlab {
namespace {

// Four tics or fewer: steps have many digits.
double tics_of(const std::vector<Curves>& curves) {
  std::int64_t last = 1;
  for (const Curves& c : curves) {
    if (!c.steps.empty()) last = std::max(last, c.steps.back().step);
    if (!c.validations.empty()) last = std::max(last, c.validations.back().step);
  }
  const double power = std::pow(10, std::floor(std::log10(static_cast<double>(last) / 4)));
  const double rough = static_cast<double>(last) / 4 / power;
  return (rough <= 1 ? 1 : rough <= 2 ? 2 : rough <= 5 ? 5 : 10) * power;
}

// The rows of one training for a data file, and how many they are.
std::pair<std::string, std::size_t> rows_of(const Curves& curves, const TrainingMeasure& measure) {
  std::string rows;
  std::size_t points = 0;
  const auto add = [&](const auto& from, auto member) {
    for (const auto& row : from) {
      if (!std::isfinite(row.*member)) continue;
      rows += std::to_string(row.step) + " " + number_text(row.*member) + "\n";
      ++points;
    }
  };
  if (measure.curve)
    add(curves.steps, measure.curve);
  else
    add(curves.validations, measure.validation);
  return {points == 0 ? "NaN NaN\n" : rows, points};
}

}  // namespace

Picture training_figure(const std::vector<std::string>& paths, PageWidth width) {
  if (paths.empty())
    throw DataError(
        "the figure 'training' needs the curves.h5 of a training; name one, or its folder");
  if (paths.size() > kMarks)
    throw DataError("the figure 'training' tells {} trainings apart, and {} were named", kMarks,
                    paths.size());
  std::vector<Curves> curves;
  std::vector<LegendEntry> legend;
  for (const std::string& path : paths) {
    curves.push_back(read_curves(path));
    legend.push_back({training_name(path), point_style(legend.size())});
  }
  Sheet sheet("training", {.across = 2, .panel_height = 150, .left = 54, .width = width});
  sheet.legend(legend);
  const std::string tics = number_text(tics_of(curves));
  bool any = false;
  for (const TrainingMeasure& measure : training_measures()) {
    const std::string file = "training_" + measure.name + ".dat";
    std::string table, lines;
    for (std::size_t i = 0; i < curves.size(); ++i) {
      const auto [rows, points] = rows_of(curves[i], measure);
      table += (i ? "\n\n" : "") + std::string("# ") + paths[i] + "\n# step value\n" + rows;
      if (points > 0)
        lines += (lines.empty() ? "" : ", ") + gnuplot_text(file) + " index " + std::to_string(i) +
                 " using 1:2 with " +
                 (points > 60 ? "lines " + ink_style(i) : "linespoints " + point_style(i)) +
                 " ps 0.4 lw 1.2";
    }
    if (lines.empty()) continue;
    any = true;
    sheet.data(file, table);
    sheet.panel(measure.title, "step of the optimiser", measure.unit,
                std::string(measure.logarithmic ? "set" : "unset") +
                    " logscale y\nset format y '%g'\nset xtics " + tics + "\nplot " + lines);
  }
  if (!any) throw DataError("'{}' holds no rows of a training", paths.front());
  return sheet.picture("Curves as recorded, not smoothed; a training each, so no intervals.");
}

}  // namespace draftlab
