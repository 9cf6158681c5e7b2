// One quantity along one key of a sweep, a line for each combination of the others.
#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/figures/figures.h"
#include "analysis/report/words.h"
#include "core/base/error.h"

namespace draftlab {
namespace {

std::string key_along(const PlotData& data, const std::vector<FigureItem>& known) {
  std::string along = data.request.along;
  if (along.empty() && !data.request.axes.empty()) along = data.request.axes.front();
  if (along.empty()) along = numeric_key(known);
  if (along.empty())
    throw DataError(
        "the figure 'axis' needs a sweep over a key whose values are numbers, and these traces "
        "have none");
  const std::vector<std::string> values = values_of(data.frame, along);
  const bool numbers = std::all_of(values.begin(), values.end(), [](const std::string& value) {
    return number_of(value).has_value();
  });
  if (values.size() < 2 || !numbers)
    throw DataError(
        "the figure 'axis' needs numbers along '{}', and the arms of these traces have none, or "
        "only one",
        along);
  return along;
}

}  // namespace

Picture axis_figure(const PlotData& data) {
  const std::string along = key_along(data, figure_items(data.grouping));
  const Reading up{&data.quantities.find(data.request.score.empty() ? "tokens_per_forward"
                                                                    : data.request.score)};
  const Report report = report_of(data, {"axis", {up.quantity}, data.request.by});
  const std::vector<FigureItem> known = items_of(data, report);
  std::vector<FigureItem> shown;
  std::size_t prompts = 0;
  for (std::size_t g = 0; g < report.groups.size(); ++g) {
    const Report::Group& group = report.groups[g];
    FigureItem item = known[g];
    const std::string value = data.frame.key(group.arms[0], along);
    if (!number_of(value) || !std::isfinite(up.of(group).value)) continue;
    if (item.value(along).empty()) item.values.emplace_back(along, value);
    shown.push_back(std::move(item));
    prompts = std::max(prompts, static_cast<std::size_t>(group.cell(*up.quantity).prompts));
  }
  if (shown.empty())
    throw DataError("the figure 'axis' shows {}, and no arm has it; choose another with --score",
                    up.quantity->name);
  int reference = -1;
  for (const Report::Group& group : report.groups) reference = group.baseline;
  const Encoding roles =
      encode(shown, {.series = data.request.series, .along = along, .reference = reference});
  AxisRange x_range, y_range;
  std::vector<double> xs;
  // A block a series of a panel; the reference has one too.
  std::map<std::tuple<bool, std::size_t, std::size_t>, std::vector<const Encoding::Role*>> lines;
  for (const Encoding::Role& role : roles.roles) {
    lines[{role.reference, role.panel, role.colour}].push_back(&role);
    x_range.add(role.along), xs.push_back(role.along);
    y_range.add(bounded(up.of(report.groups[static_cast<std::size_t>(role.group)])));
  }
  std::sort(xs.begin(), xs.end());
  xs.erase(std::unique(xs.begin(), xs.end()), xs.end());
  const std::size_t panels = roles.panels.size();
  Sheet sheet("axis", {.across = std::min<std::size_t>(panels, 2),
                       .panel_height = panels == 1 ? 230 : 180,
                       .width = data.request.width});
  std::vector<LegendEntry> legend = roles.legend();
  const auto heading = std::find_if(legend.begin(), legend.end(),
                                    [](const LegendEntry& entry) { return entry.heading; });
  legend.erase(heading, legend.end());  // The axis itself says what the markers would.
  if (legend.size() > 1) sheet.legend(legend);
  sheet.title(roles.left_out);
  const std::string axes =
      x_range.commands('x', false, static_cast<std::size_t>(sheet.plot_width() / 30), xs) +
      y_range.commands('y', up.share() && y_range.within_a_share(), 6);
  std::string table;
  std::vector<std::string> bands(panels), marks(panels);
  int block = 0;
  for (const auto& [line, members] : lines) {
    const auto& [is_reference, panel, shade] = line;
    table += (block ? "\n\n" : "") + std::string("# ") + roles.panels[panel] +
             (roles.panels[panel].empty() ? "" : "; ") + members.front()->name + "\n# " + along +
             ", " + up.label() + ": value low high\n";
    for (const Encoding::Role* role : members) {
      const Report::Group& group = report.groups[static_cast<std::size_t>(role->group)];
      table += number_text(role->along) + " " + estimate_text(bounded(up.of(group))) + "\n";
    }
    const std::string from = "'axis.dat' index " + std::to_string(block++);
    const std::string ink = is_reference ? "lc rgb 'black'" : "lc rgb '" + colour(shade) + "'",
                      mark = ink + " pt " + std::to_string(is_reference ? 2 : marker(shade));
    for (std::size_t p = 0; p < panels; ++p) {
      if (!is_reference && p != panel) continue;
      if (members.size() > 1)
        bands[p] += from + " using 1:3:4 with filledcurves " + ink +
                    " fs transparent solid 0.13 noborder, \\\n  ";
      else
        marks[p] += from + " using 1:2:3:4 with yerrorbars " + mark + " ps 0.6 lw 0.8, \\\n  ";
      marks[p] += from + " using 1:2 with linespoints " + mark + " ps 0.6 lw 1.3, \\\n  ";
    }
  }
  sheet.data("axis.dat", table);
  const std::string direction = up.better() > 0   ? " (more is better)"
                                : up.better() < 0 ? " (less is better)"
                                                  : "";
  for (std::size_t p = 0; p < panels; ++p) {
    std::string plot = bands[p] + marks[p];
    plot.erase(plot.rfind(", \\\n"));
    sheet.panel(roles.panels[p], key_words(along), up.label() + direction, axes + "plot " + plot);
  }
  return sheet.picture(
      sampling_note(data, prompts, "bands: 95 % intervals from resampled prompts"));
}

}  // namespace draftlab
