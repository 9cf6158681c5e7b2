// Worth against speed: which arms no other arm with the same baseline beats in both.
#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/figures/figures.h"
#include "analysis/report/words.h"
#include "core/base/error.h"

namespace draftlab {
namespace {

struct Spot {
  int group;
  Estimate x, y;
};

// The points of a report. Only arms with one baseline are compared, so each baseline has a panel.
struct Points {
  AxisQuantity across, up;
  Report report;
  std::map<int, std::vector<Spot>> by_baseline = {};
  std::vector<FigureItem> shown = {};
  int prompts = 0;
};

Points points_of(const PlotData& data) {
  Points all{.across = {&data.quantities.find(data.request.speed)},
             .up = {&data.quantities.find(chosen_score(data))},
             .report = {},
             .by_baseline = {},
             .shown = {}};
  all.report = report_of(data, {"pareto", {all.across.quantity, all.up.quantity}, data.request.by});
  const std::vector<FigureItem> known = items_of(data, all.report);
  // Costs and rates are shown as factors against a baseline where there is one.
  all.across.factor =
      all.across.quantity->compare != Metric::Compare::difference && all.report.groups.size() > 1;
  for (std::size_t g = 0; g < all.report.groups.size(); ++g) {
    const Report::Group& group = all.report.groups[g];
    const Spot point{static_cast<int>(g), all.across.of(group), all.up.of(group)};
    if (!std::isfinite(point.x.value) || !std::isfinite(point.y.value)) continue;
    all.by_baseline[group.baseline].push_back(point);
    all.shown.push_back(known[g]);
    all.prompts = std::max(all.prompts, group.cell(*all.up.quantity).prompts);
  }
  if (all.shown.empty())
    throw DataError(
        "the figure 'pareto' shows {} against {}, and no arm has both; choose others with --score "
        "and --speed",
        all.up.quantity->name, all.across.quantity->name);
  return all;
}

// Points that no other one beats, from left to right.
std::vector<Spot> front_of(const std::vector<Spot>& points, const AxisQuantity& across,
                           const AxisQuantity& up) {
  const auto good = [&](const Spot& p) {
    return std::pair(across.better() * p.x.value, (up.better() ? up.better() : 1) * p.y.value);
  };
  std::vector<Spot> front;
  for (const Spot& a : points) {
    const auto at = good(a);
    const bool beaten = std::any_of(points.begin(), points.end(), [&](const Spot& b) {
      const auto other = good(b);
      return other.first >= at.first && other.second >= at.second && other != at;
    });
    if (!beaten) front.push_back(a);
  }
  std::sort(front.begin(), front.end(),
            [](const Spot& a, const Spot& b) { return a.x.value < b.x.value; });
  return front;
}

std::string direction(int better) {
  return better > 0 ? " (more is better)" : better < 0 ? " (less is better)" : "";
}

// The axes end where the points end; the bars of an uncertain one may go on beyond them.
std::string axes_of(const Points& all, int plot_width) {
  AxisRange x, y;
  x.end_closely(), y.end_closely();
  for (const auto& [baseline, points] : all.by_baseline)
    for (const Spot& point : points) x.add(point.x.value), y.add(point.y.value);
  return x.commands('x', all.across.share(), static_cast<std::size_t>(plot_width / 32)) +
         y.commands('y', all.up.share() && y.within_a_share(), 6);
}

// What one panel draws, from the back to the front: bars, lines, points, and the front with its
// points.
class PanelScript {
 public:
  PanelScript(const Points& all, const Encoding& roles, bool joins)
      : all_(all), roles_(roles), joins_(joins) {}

  // Draws the arms of one panel of the encoding that are compared with one baseline. Returns ""
  // where there is none.
  std::string of(std::size_t panel, const std::vector<Spot>& points, const std::vector<Spot>& front,
                 int front_block) {
    std::string bars, lines, marks, best;
    const Encoding::Role* before = nullptr;  // The arm that the next one's line comes from.
    for (const Encoding::Role& role : roles_.roles) {
      if (!is_among(points, role.group) || (role.panel != panel && !role.reference)) continue;
      const std::string block = "'pareto.dat' index " + std::to_string(role.group),
                        mark = roles_.mark(role);
      bars += block + " using 1:4:2:3:5:6 with xyerrorbars " + ink_of(mark) +
              " pt 0 ps 0 lw 0.6, \\\n  ";
      (is_among(front, role.group) ? best : marks) +=
          block + " using 1:4 with points " + mark + " ps 0.8, \\\n  ";
      if (!joins_ || role.reference) continue;
      // Roles of one colour come one after the other, in the order along the key.
      const bool begins = !before || before->colour != role.colour;
      if (begins) {
        joined_ += (blocks_ > 0 ? "\n\n" : "") + std::string("# ") + role.name + "\n";
        lines += "'pareto_lines.dat' index " + std::to_string(blocks_++) +
                 " using 1:2 with lines " + ink_style(role.colour) + " lw 1.2, \\\n  ";
        if (roles_.markers.empty())
          marks +=
              block + " using 1:4 with points " + ink_style(role.colour) + " pt 6 ps 1.3, \\\n  ";
      }
      const Report::Group& group = all_.report.groups[static_cast<std::size_t>(role.group)];
      joined_ += number_text(all_.across.of(group).value) + " " +
                 number_text(all_.up.of(group).value) + "\n";
      before = &role;
    }
    if (bars.empty()) return "";
    const std::string front_line = "'pareto_front.dat' index " + std::to_string(front_block) +
                                   " using 1:2 with lines lc rgb '#444444' dt 2 lw 1.2, \\\n  ";
    std::string all = bars + lines + marks + front_line + best;
    return "plot " + all.erase(all.rfind(", \\\n"));
  }

  const std::string& joined() const { return joined_; }  // The data of the lines.

 private:
  static bool is_among(const std::vector<Spot>& points, int group) {
    return std::any_of(points.begin(), points.end(),
                       [&](const Spot& point) { return point.group == group; });
  }
  const Points& all_;
  const Encoding& roles_;
  bool joins_;
  std::string joined_;
  int blocks_ = 0;
};

std::string table_of(const Points& all, const std::string& by) {
  std::string table;
  for (std::size_t g = 0; g < all.report.groups.size(); ++g) {
    const Report::Group& group = all.report.groups[g];
    table += (g ? "\n\n" : "") + std::string("# ") + group.name + "\n# " + by + "\n" +
             estimate_text(bounded(all.across.of(group))) + " " +
             estimate_text(bounded(all.up.of(group))) + "\n";
  }
  return table;
}

// Lines say what more of something does, so they join numbers and no names.
bool are_numbers(const std::vector<FigureItem>& shown, const std::string& along) {
  return !along.empty() && std::all_of(shown.begin(), shown.end(), [&](const FigureItem& a) {
    return a.value(along).empty() || number_of(a.value(along));
  });
}

}  // namespace

Picture pareto_figure(const PlotData& data) {
  const Points all = points_of(data);
  const std::string along =
      data.request.along.empty() ? numeric_key(all.shown) : data.request.along;
  const bool joins = are_numbers(all.shown, along), one = all.by_baseline.size() == 1;
  // All arms stand in one panel, so that they have one front.
  const Encoding roles = encode(all.shown, {.series = data.request.series,
                                            .along = along,
                                            .reference = one ? all.by_baseline.begin()->first : -1,
                                            .a_panel = kMarks});
  const std::size_t panels = all.by_baseline.size() * roles.panels.size();
  Sheet sheet("pareto", {.across = std::min<std::size_t>(panels, 2),
                         .panel_height = panels == 1 ? 240 : 190,
                         .width = data.request.width});
  sheet.legend(roles.legend());
  sheet.title(roles.left_out.empty() && joins && roles.markers.empty()
                  ? "Lines follow " + roles.marker_title + ", from its least value (the ring) on."
                  : roles.left_out);
  sheet.data("pareto.dat", table_of(all, all.across.label() + ": value low high; " +
                                             all.up.label() + ": value low high"));
  const auto name_of = [&](int group) {
    for (const FigureItem& item : all.shown)
      if (item.group == group) return words_of(item);
    return all.report.groups[static_cast<std::size_t>(group)].called.short_text();
  };
  const std::string axes = axes_of(all, sheet.plot_width());
  PanelScript script(all, roles, joins);
  std::string stairs;  // The fronts, a block each.
  int fronts = 0;
  for (const auto& [baseline, points] : all.by_baseline) {
    const std::vector<Spot> front = front_of(points, all.across, all.up);
    stairs += (fronts ? "\n\n" : "") + std::string("# the Pareto front against ") +
              all.report.groups[static_cast<std::size_t>(baseline)].name + "\n";
    for (const Spot& p : front)
      stairs += number_text(p.x.value) + " " + number_text(p.y.value) + "\n";
    for (std::size_t panel = 0; panel < roles.panels.size(); ++panel) {
      const std::string drawn = script.of(panel, points, front, fronts);
      if (drawn.empty()) continue;
      sheet.panel((one ? "" : "against " + name_of(baseline)) +
                      (one || roles.panels[panel].empty() ? "" : "; ") + roles.panels[panel],
                  all.across.label() + direction(all.across.factor ? 0 : all.across.better()),
                  all.up.label() + direction(all.up.better()), axes + drawn);
    }
    ++fronts;
  }
  sheet.data("pareto_front.dat", stairs);
  if (!script.joined().empty()) sheet.data("pareto_lines.dat", script.joined());
  const std::string against =
      all.across.factor ? " Factors are ratios of sums" +
                              (one ? ", against " + name_of(all.by_baseline.begin()->first)
                                   : std::string(", a panel a baseline")) +
                              ", paired by prompt."
                        : "";
  return sheet.picture("Dashed: the Pareto front." + against + " " +
                       sampling_note(data, static_cast<std::size_t>(all.prompts),
                                     "bars: 95 % intervals from resampled prompts, pointwise"));
}

}  // namespace draftlab
