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

// The arms that stand along the axis, each with its place on it.
std::vector<FigureItem> shown_along(const PlotData& data, const Report& report,
                                    const AxisQuantity& up, const std::string& along) {
  const std::vector<FigureItem> known = items_of(data, report);
  std::vector<FigureItem> shown;
  for (std::size_t g = 0; g < report.groups.size(); ++g) {
    const Report::Group& group = report.groups[g];
    FigureItem item = known[g];
    const std::string value = data.frame.key(group.arms[0], along);
    if (!number_of(value) || !std::isfinite(up.of(group).value)) continue;
    if (item.value(along).empty()) item.values.emplace_back(along, value);
    shown.push_back(std::move(item));
  }
  if (shown.empty())
    throw DataError("the figure 'axis' shows {}, and no arm has it; choose another with --score",
                    up.quantity->name);
  return shown;
}

// The lines of the figure: a block of the table each, and the commands of every panel. The
// reference has a line in each of them.
struct Lines {
  std::string table;
  std::vector<std::string> bands, marks;
  explicit Lines(std::size_t panels) : bands(panels), marks(panels) {}

  void draw(const std::vector<const Encoding::Role*>& members, const std::string& mark, int block) {
    const std::string from = "'axis.dat' index " + std::to_string(block), ink = ink_of(mark);
    for (std::size_t p = 0; p < bands.size(); ++p) {
      if (!members.front()->reference && p != members.front()->panel) continue;
      if (members.size() > 1)
        bands[p] += from + " using 1:3:4 with filledcurves " + ink +
                    " fs transparent solid 0.13 noborder, \\\n  ";
      else
        marks[p] += from + " using 1:2:3:4 with yerrorbars " + ink + " pt 0 ps 0 lw 0.8, \\\n  ";
      marks[p] += from + " using 1:2 with linespoints " + mark + " ps 0.6 lw 1.3, \\\n  ";
    }
  }

  std::string plot(std::size_t panel) const {
    const std::string all = bands[panel] + marks[panel];
    return "plot " + all.substr(0, all.rfind(", \\\n"));
  }
};

Lines lines_along(const Encoding& roles, const Report& report, const AxisQuantity& up,
                  const std::string& along) {
  // A block a series of a panel; the reference has one too.
  std::map<std::tuple<bool, std::size_t, std::size_t>, std::vector<const Encoding::Role*>> series;
  for (const Encoding::Role& role : roles.roles)
    series[{role.reference, role.panel, role.colour}].push_back(&role);
  Lines lines(roles.panels.size());
  int block = 0;
  for (const auto& [line, members] : series) {
    const Encoding::Role& first = *members.front();
    lines.table += (block ? "\n\n" : "") + std::string("# ") + roles.panels[first.panel] +
                   (roles.panels[first.panel].empty() ? "" : "; ") + first.name + "\n# " + along +
                   ", " + up.label() + ": value low high\n";
    for (const Encoding::Role* role : members) {
      const Report::Group& group = report.groups[static_cast<std::size_t>(role->group)];
      lines.table += number_text(role->along) + " " + estimate_text(bounded(up.of(group))) + "\n";
    }
    lines.draw(members, first.reference ? kReferenceStyle : point_style(first.colour), block++);
  }
  return lines;
}

std::string axes_along(const Encoding& roles, const Report& report, const AxisQuantity& up,
                       int plot_width) {
  AxisRange x, y;
  std::vector<double> places;
  for (const Encoding::Role& role : roles.roles) {
    x.add(role.along), places.push_back(role.along);
    y.add(bounded(up.of(report.groups[static_cast<std::size_t>(role.group)])));
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return x.commands('x', false, static_cast<std::size_t>(plot_width / 30), places) +
         y.commands('y', up.share() && y.within_a_share(), 6);
}

}  // namespace

Picture axis_figure(const PlotData& data) {
  const std::string along = key_along(data, figure_items(data.grouping));
  const AxisQuantity up{&data.quantities.find(data.request.score.empty() ? "tokens_per_forward"
                                                                         : data.request.score)};
  const Report report = report_of(data, {"axis", {up.quantity}, data.request.by});
  const std::vector<FigureItem> shown = shown_along(data, report, up, along);
  std::size_t prompts = 0;
  int reference = -1;
  for (const Report::Group& group : report.groups) {
    reference = group.baseline;
    prompts = std::max(prompts, static_cast<std::size_t>(group.cell(*up.quantity).prompts));
  }
  const Encoding roles =
      encode(shown, {.series = data.request.series, .along = along, .reference = reference});
  const std::size_t panels = roles.panels.size();
  Sheet sheet("axis", {.across = std::min<std::size_t>(panels, 2),
                       .panel_height = panels == 1 ? 230 : 180,
                       .width = data.request.width});
  // The lines have the marks of their colours, and the axis itself says what markers would.
  std::vector<LegendEntry> legend;
  for (std::size_t c = 0; c < roles.colours.size(); ++c)
    legend.push_back({roles.colours[c], point_style(c)});
  if (!roles.reference.empty()) legend.push_back({roles.reference, kReferenceStyle});
  if (legend.size() > 1) sheet.legend(legend);
  sheet.title(roles.left_out);
  const Lines lines = lines_along(roles, report, up, along);
  sheet.data("axis.dat", lines.table);
  const std::string axes = axes_along(roles, report, up, sheet.plot_width());
  const std::string direction = up.better() > 0   ? " (more is better)"
                                : up.better() < 0 ? " (less is better)"
                                                  : "";
  for (std::size_t p = 0; p < panels; ++p)
    sheet.panel(roles.panels[p], key_words(along), up.label() + direction, axes + lines.plot(p));
  return sheet.picture(
      sampling_note(data, prompts, "bands: 95 % intervals from resampled prompts"));
}

}  // namespace draftlab
