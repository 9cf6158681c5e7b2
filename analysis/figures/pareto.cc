// Worth against speed: which arms no other arm with the same baseline beats in both.
#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/figures/figures.h"
#include "analysis/report/words.h"
#include "core/base/error.h"

namespace draftlab {
namespace {

struct Point {
  int group;
  Estimate x, y;
};

// Points that no other one beats, from left to right.
std::vector<Point> front_of(const std::vector<Point>& points, int x_better, int y_better) {
  const auto good = [&](const Point& p) {
    return std::pair(x_better * p.x.value, y_better * p.y.value);
  };
  std::vector<Point> front;
  for (const Point& a : points) {
    const auto [ax, ay] = good(a);
    const bool beaten = std::any_of(points.begin(), points.end(), [&](const Point& b) {
      const auto [bx, by] = good(b);
      return bx >= ax && by >= ay && (bx > ax || by > ay);
    });
    if (!beaten) front.push_back(a);
  }
  std::sort(front.begin(), front.end(),
            [](const Point& a, const Point& b) { return a.x.value < b.x.value; });
  return front;
}

std::string direction(int better) {
  return better > 0 ? " (more is better)" : better < 0 ? " (less is better)" : "";
}

}  // namespace

Picture pareto_figure(const PlotData& data) {
  Reading up{&data.quantities.find(chosen_score(data))},
      across{&data.quantities.find(data.request.speed)};
  const Report report =
      report_of(data, {"pareto", {across.quantity, up.quantity}, data.request.by});
  const std::vector<FigureItem> known = items_of(data, report);
  // Costs and rates are shown as factors against a baseline where there is one.
  across.factor =
      across.quantity->compare != Metric::Compare::difference && report.groups.size() > 1;
  // Only arms with one baseline are compared, so each baseline has a panel.
  std::map<int, std::vector<Point>> by_baseline;
  std::vector<FigureItem> shown;
  int prompts = 0;
  for (std::size_t g = 0; g < report.groups.size(); ++g) {
    const Report::Group& group = report.groups[g];
    const Point point{static_cast<int>(g), across.of(group), up.of(group)};
    if (!std::isfinite(point.x.value) || !std::isfinite(point.y.value)) continue;
    by_baseline[group.baseline].push_back(point);
    shown.push_back(known[g]);
    prompts = std::max(prompts, group.cell(*up.quantity).prompts);
  }
  if (shown.empty())
    throw DataError(
        "the figure 'pareto' shows {} against {}, and no arm has both; choose others with --score "
        "and --speed",
        up.quantity->name, across.quantity->name);
  const std::string along = data.request.along.empty() ? numeric_key(shown) : data.request.along;
  // Lines say what more of something does, so they join numbers and no names.
  const bool joins =
      !along.empty() && std::all_of(shown.begin(), shown.end(), [&](const FigureItem& a) {
        return a.value(along).empty() || number_of(a.value(along));
      });
  const bool one = by_baseline.size() == 1;
  const Encoding roles = encode(shown, {.series = data.request.series,
                                        .along = along,
                                        .reference = one ? by_baseline.begin()->first : -1});
  AxisRange x_range, y_range;
  std::string table;
  for (std::size_t g = 0; g < report.groups.size(); ++g) {
    const Report::Group& group = report.groups[g];
    const Estimate x = bounded(across.of(group)), y = bounded(up.of(group));
    table += (g ? "\n\n" : "") + std::string("# ") + group.name + "\n# " + across.label() +
             ": value low high; " + up.label() + ": value low high\n" + estimate_text(x) + " " +
             estimate_text(y) + "\n";
    x_range.add(x), y_range.add(y);
  }
  const std::size_t panels = by_baseline.size() * roles.panels.size();
  Sheet sheet("pareto", {.across = std::min<std::size_t>(panels, 2),
                         .panel_height = panels == 1 ? 240 : 190,
                         .width = data.request.width});
  sheet.legend(roles.legend());
  sheet.title(roles.left_out.empty() && joins && roles.markers.empty()
                  ? "Lines follow " + roles.marker_title + ", from its least value (the ring) on."
                  : roles.left_out);
  sheet.data("pareto.dat", table);
  const std::string axes =
      x_range.commands('x', across.share(), static_cast<std::size_t>(sheet.plot_width() / 32)) +
      y_range.commands('y', up.share() && y_range.within_a_share(), 6);
  const auto name_of = [&](int group) {
    for (const FigureItem& item : shown)
      if (item.group == group) return words_of(item);
    return report.groups[static_cast<std::size_t>(group)].called.short_text();
  };
  std::string stairs, joined;  // The fronts, and the lines that join arms of one colour.
  int fronts = 0, blocks = 0;
  for (const auto& [baseline, points] : by_baseline) {
    const std::vector<Point> front =
        front_of(points, across.better(), up.better() ? up.better() : 1);
    stairs += (fronts ? "\n\n" : "") + std::string("# the Pareto front against ") +
              report.groups[static_cast<std::size_t>(baseline)].name + "\n";
    for (const Point& p : front)
      stairs += number_text(p.x.value) + " " + number_text(p.y.value) + "\n";
    for (std::size_t panel = 0; panel < roles.panels.size(); ++panel) {
      std::string commands = axes + "plot 'pareto_front.dat' index " + std::to_string(fronts) +
                             " using 1:2 with lines lc rgb '#999999' dt 2 lw 1";
      std::string marks;
      std::size_t colour_before = kColours;  // The colour of the line that is being drawn.
      for (const Encoding::Role& role : roles.roles) {
        const bool here = std::any_of(points.begin(), points.end(), [&](const Point& point) {
          return point.group == role.group;
        });
        if (!here || (role.panel != panel && !role.reference)) continue;
        const std::string mark = roles.mark(role);
        marks += ", \\\n  'pareto.dat' index " + std::to_string(role.group) +
                 " using 1:4:2:3:5:6 with xyerrorbars " + mark + " ps 0.7 lw 0.6";
        if (!joins || role.reference) continue;
        // Roles of one colour come one after the other, in the order along the key.
        const bool begins = role.colour != colour_before;
        const Report::Group& group = report.groups[static_cast<std::size_t>(role.group)];
        if (begins) {
          if (blocks > 0) joined += "\n\n";
          joined += "# " + role.name + "\n";
          commands += ", \\\n  'pareto_lines.dat' index " + std::to_string(blocks++) +
                      " using 1:2 with lines lc rgb '" + colour(role.colour) + "' lw 1.2";
          if (roles.markers.empty())
            marks += ", \\\n  'pareto.dat' index " + std::to_string(role.group) +
                     " using 1:4 with points lc rgb '" + colour(role.colour) + "' pt 6 ps 1.3";
        }
        joined +=
            number_text(across.of(group).value) + " " + number_text(up.of(group).value) + "\n";
        colour_before = role.colour;
      }
      if (marks.empty()) continue;
      sheet.panel((one ? "" : "against " + name_of(baseline)) +
                      (one || roles.panels[panel].empty() ? "" : "; ") + roles.panels[panel],
                  across.label() + direction(across.factor ? 0 : across.better()),
                  up.label() + direction(up.better()), commands + marks);
    }
    ++fronts;
  }
  sheet.data("pareto_front.dat", stairs);
  if (blocks > 0) sheet.data("pareto_lines.dat", joined);
  const std::string against = across.factor
                                  ? " Factors are ratios of sums" +
                                        (one ? ", against " + name_of(by_baseline.begin()->first)
                                             : std::string(", a panel a baseline")) +
                                        ", paired by prompt."
                                  : "";
  return sheet.picture("Dashed: the Pareto front." + against + " " +
                       sampling_note(data, static_cast<std::size_t>(prompts),
                                     "bars: 95 % intervals from resampled prompts, pointwise"));
}

}  // namespace draftlab
