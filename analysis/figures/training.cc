// The curves of trainings: what `draftlab train` writes into curves.h5.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "analysis/figures/figures.h"
#include "core/base/error.h"
#include "core/trace/curves.h"

namespace draftlab {
namespace {

struct Plotted {
  std::string file, title, label;
  double ValidationRow::*validation = nullptr;
  double CurveRow::*curve = nullptr;
  bool logarithmic = false;
};

}  // namespace

Picture training_figure(const std::vector<std::string>& paths, PageWidth width) {
  if (paths.empty())
    throw DataError(
        "the figure 'training' needs the curves.h5 of a training; name one, or its folder");
  std::vector<Curves> curves;
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    curves.push_back(read_curves(path));
    names.push_back(std::filesystem::absolute(path).parent_path().filename().string());
  }
  const Plotted all[] = {
      {.file = "training_loss.dat",
       .title = "training loss",
       .label = "nats a token",
       .curve = &CurveRow::loss},
      {.file = "training_validation.dat",
       .title = "validation loss",
       .label = "nats a token",
       .validation = &ValidationRow::loss},
      {.file = "training_perplexity.dat",
       .title = "generative perplexity (judge)",
       .label = "perplexity",
       .validation = &ValidationRow::perplexity,
       .logarithmic = true},
      {.file = "training_entropy.dat",
       .title = "entropy of the generated text",
       .label = "bits",
       .validation = &ValidationRow::entropy_bits},
      {.file = "training_nfe.dat",
       .title = "function evaluations a token",
       .label = "NFE a token",
       .validation = &ValidationRow::nfe_per_token},
      {.file = "training_rate.dat",
       .title = "learning rate",
       .label = "rate",
       .curve = &CurveRow::learning_rate},
  };
  Sheet sheet("training", {.across = 2, .panel_height = 150, .left = 54, .width = width});
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < names.size(); ++i) legend.push_back({names[i], point_style(i)});
  sheet.legend(legend);
  if (names.size() > kColours)
    throw DataError("the figure 'training' tells {} trainings apart, and {} were named", kColours,
                    names.size());
  std::int64_t last = 1;
  for (const Curves& c : curves) {
    if (!c.steps.empty()) last = std::max(last, c.steps.back().step);
    if (!c.validations.empty()) last = std::max(last, c.validations.back().step);
  }
  // Four tics or fewer: steps have many digits.
  const double power = std::pow(10, std::floor(std::log10(static_cast<double>(last) / 4)));
  const double rough = static_cast<double>(last) / 4 / power, apart = (rough <= 1   ? 1
                                                                       : rough <= 2 ? 2
                                                                       : rough <= 5 ? 5
                                                                                    : 10) *
                                                                      power;
  bool any = false;
  for (const Plotted& plotted : all) {
    const std::string commands = std::string(plotted.logarithmic ? "set" : "unset") +
                                 " logscale y\nset format y '%g'\nset xtics " + number_text(apart) +
                                 "\n";
    std::string table, lines;
    for (std::size_t i = 0; i < curves.size(); ++i) {
      table += (i ? "\n\n" : "") + std::string("# ") + paths[i] + "\n# step value\n";
      std::size_t points = 0;
      const auto add = [&](const auto& rows, auto member) {
        for (const auto& row : rows) {
          if (!std::isfinite(row.*member)) continue;
          table += std::to_string(row.step) + " " + number_text(row.*member) + "\n";
          ++points;
        }
      };
      if (plotted.curve)
        add(curves[i].steps, plotted.curve);
      else
        add(curves[i].validations, plotted.validation);
      if (points == 0)
        table += "NaN NaN\n";
      else
        lines += (lines.empty() ? "" : ", ") + gnuplot_text(plotted.file) + " index " +
                 std::to_string(i) + " using 1:2 with " +
                 (points > 60 ? "lines " : "linespoints ") + point_style(i) + " ps 0.4 lw 1.2";
    }
    if (lines.empty()) continue;
    any = true;
    sheet.data(plotted.file, table);
    sheet.panel(plotted.title, "step of the optimiser", plotted.label, commands + "plot " + lines);
  }
  if (!any) throw DataError("'{}' holds no rows of a training", paths.front());
  return sheet.picture("Curves as recorded, not smoothed; a training each, so no intervals.");
}

}  // namespace draftlab
