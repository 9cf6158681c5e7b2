#include "analysis/figures/bins.h"

#include <algorithm>
#include <cmath>

#include "analysis/figures/figures.h"

namespace draftlab {
namespace {

// A curve is interrupted where more than this share of the bins in a row is empty: a band across
// them would claim what nobody saw.
constexpr double kWidestGap = 1.0 / 6;

// They are drawn anew for each bin, and pictures show two digits.
constexpr Bootstrap kDraws = {500, 1};

}  // namespace

bool Bins::empty(std::size_t series) const {
  for (std::size_t bin = 0; bin < bins_; ++bin)
    if (!empty(series, bin)) return false;
  return true;
}

bool Bins::empty() const {
  return std::all_of(cells_.begin(), cells_.end(), [](const auto& cell) { return cell.empty(); });
}

std::size_t Bins::prompts() const {
  std::size_t most = 0;
  for (const auto& cell : cells_) most = std::max(most, cell.size());
  return most;
}

Estimate Bins::at(std::size_t series, std::size_t bin) const {
  std::vector<std::vector<double>> columns(2);
  for (const auto& [prompt, sums] : cells_[series * bins_ + bin]) {
    columns[0].push_back(sums.first);
    columns[1].push_back(sums.second);
  }
  return cluster_bootstrap(
      columns, [](std::span<const double> sums) { return sums[0] / sums[1]; }, 0.95, kDraws);
}

std::string Bins::table(const std::vector<std::string>& names, const std::vector<double>& x) const {
  std::string text;
  for (std::size_t series = 0; series < names.size(); ++series) {
    text += (series ? "\n\n" : "") + std::string("# ") + names[series] + "\n# x value low high\n";
    std::size_t next = 0;  // The bin behind the last one that was not empty.
    for (std::size_t bin = 0; bin < bins_; ++bin) {
      if (empty(series, bin)) continue;
      const std::size_t gap = bin - next;
      if (next > 0 && static_cast<double>(gap) > kWidestGap * static_cast<double>(bins_))
        text += "\n";
      text += number_text(x[bin]) + " " + estimate_text(at(series, bin)) + "\n";
      next = bin + 1;
    }
    if (empty(series)) text += "NaN NaN NaN NaN\n";
  }
  return text;
}

std::string curves(const std::string& file, const Bins& bins, const std::vector<DrawnSeries>& drawn,
                   const std::string& more) {
  std::string bands, lines;
  for (const DrawnSeries& one : drawn) {
    if (bins.empty(one.series)) continue;
    const std::string block = gnuplot_text(file) + " index " + std::to_string(one.series);
    const std::string colour = one.style.substr(0, one.style.find(" pt"));
    bands += block + " using 1:3:4 with filledcurves " + colour +
             " fs transparent solid 0.15 noborder, ";
    lines += block + " using 1:2 with linespoints " + one.style + " ps 0.5 lw 1.4, ";
  }
  const std::string all = bands + lines + more;
  if (all.empty())
    return "set label 901 'not recorded' at graph 0.5,0.5 center\nplot NaN\nunset label 901";
  return "plot " + (all.ends_with(", ") ? all.substr(0, all.size() - 2) : all);
}

Picture curve_figure(const PlotData& data, const std::string& name,
                     const std::vector<CurvePanel>& panels, const std::vector<double>& x,
                     const std::string& note) {
  std::vector<FigureItem> shown;
  std::size_t empty = 0;
  for (const FigureItem& item : figure_items(data.grouping)) {
    const bool any = std::any_of(panels.begin(), panels.end(), [&](const CurvePanel& panel) {
      return !panel.bins->empty(static_cast<std::size_t>(item.group));
    });
    if (any)
      shown.push_back(item);
    else
      ++empty;
  }
  const Encoding roles = encode(shown, {.series = data.request.series});
  // Several groups of arms stand side by side when the panels of one do not.
  const std::size_t groups = roles.panels.size();
  const std::size_t fit =
      Sheet(name, {.across = panels.size(), .width = data.request.width}).columns();
  const bool groups_beside = groups > 1 && panels.size() > fit;
  const std::size_t across = groups_beside ? groups : panels.size() == 4 ? 2 : panels.size();
  Sheet sheet(name, {.across = across, .width = data.request.width});
  sheet.legend(roles.legend());
  sheet.title(roles.left_out);
  for (const CurvePanel& panel : panels) sheet.data(panel.file, panel.bins->table(data.names(), x));
  const auto draw = [&](std::size_t group, const CurvePanel& panel) {
    std::vector<DrawnSeries> drawn;
    bool any = panel.bins->empty();  // What nobody recorded is said once for each group.
    for (const Encoding::Role& role : roles.roles) {
      if (role.panel != group && !role.reference) continue;
      drawn.push_back({static_cast<std::size_t>(role.group), roles.mark(role)});
      any = any || !panel.bins->empty(drawn.back().series);
    }
    if (!any) return;
    const std::string& which = roles.panels[group];
    sheet.panel(which.empty() ? panel.title : which + ": " + panel.title, panel.x_label,
                panel.y_label, panel.commands + curves(panel.file, *panel.bins, drawn, panel.more));
  };
  if (groups_beside) {
    for (const CurvePanel& panel : panels) {
      sheet.begin_row();
      for (std::size_t group = 0; group < groups; ++group) draw(group, panel);
    }
  } else {
    for (std::size_t group = 0; group < groups; ++group) {
      sheet.begin_row();
      for (const CurvePanel& panel : panels) draw(group, panel);
    }
  }
  const std::string without = empty == 0 ? ""
                                         : std::to_string(empty) +
                                               (empty == 1 ? " arm has" : " arms have") +
                                               " nothing to show here. ";
  std::size_t prompts = 0;
  for (const CurvePanel& panel : panels) prompts = std::max(prompts, panel.bins->prompts());
  return sheet.picture(
      note + without +
      sampling_note(data, prompts, "bands: 95 % intervals from resampled prompts"));
}

}  // namespace draftlab
