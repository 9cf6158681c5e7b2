// A sheet of curves: a panel for each quantity, once for each panel of the encoding.
#include <algorithm>

#include "analysis/figures/bins.h"
#include "analysis/figures/figures.h"

namespace draftlab {
namespace {

// The arms that have something to show, and how many have not.
struct Shown {
  std::vector<FigureItem> items;
  std::size_t empty = 0;
};

Shown shown_in(const PlotData& data, const std::vector<CurvePanel>& panels) {
  Shown shown;
  for (const FigureItem& item : figure_items(data.grouping)) {
    const bool any = std::any_of(panels.begin(), panels.end(), [&](const CurvePanel& panel) {
      return !panel.bins->empty(static_cast<std::size_t>(item.group));
    });
    if (any)
      shown.items.push_back(item);
    else
      ++shown.empty;
  }
  return shown;
}

// Draws a panel of one group of arms, unless none of these arms has what others have there.
void draw(Sheet& sheet, const Encoding& roles, std::size_t group, const CurvePanel& panel) {
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
}

}  // namespace

Picture curve_figure(const PlotData& data, const CurveSheet& curves) {
  const std::vector<CurvePanel>& panels = curves.panels;
  const Shown shown = shown_in(data, panels);
  const Encoding roles = encode(shown.items, {.series = data.request.series});
  // Several groups of arms stand side by side when the panels of one do not.
  const std::size_t groups = roles.panels.size();
  const std::size_t fit =
      Sheet(curves.name, {.across = panels.size(), .width = data.request.width}).columns();
  const bool groups_beside = groups > 1 && panels.size() > fit;
  const std::size_t across = groups_beside ? groups : panels.size() == 4 ? 2 : panels.size();
  Sheet sheet(curves.name, {.across = across, .width = data.request.width});
  sheet.legend(roles.legend());
  sheet.title(roles.left_out);
  std::size_t prompts = 0;
  for (const CurvePanel& panel : panels) {
    sheet.data(panel.file, panel.bins->table(data.names(), curves.x));
    prompts = std::max(prompts, panel.bins->prompts());
  }
  for (std::size_t row = 0; row < (groups_beside ? panels.size() : groups); ++row) {
    sheet.begin_row();
    for (std::size_t column = 0; column < (groups_beside ? groups : panels.size()); ++column)
      draw(sheet, roles, groups_beside ? column : row, panels[groups_beside ? row : column]);
  }
  const std::string without = shown.empty == 0
                                  ? ""
                                  : std::to_string(shown.empty) +
                                        (shown.empty == 1 ? " arm has" : " arms have") +
                                        " nothing to show here. ";
  return sheet.picture(
      curves.note + without +
      sampling_note(data, prompts, "bands: 95 % intervals from resampled prompts"));
}

}  // namespace draftlab
