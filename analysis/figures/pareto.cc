// Worth against speed: which arms no other arm beats in both.
#include <algorithm>
#include <cmath>

#include "analysis/figures/figures.h"
#include "analysis/report/report.h"
#include "core/base/error.h"

namespace draftlab {
namespace {

constexpr std::size_t kMostSymbols = 16;

}  // namespace

Picture pareto_figure(const PlotData& data) {
  const Quantity &up = data.quantities.find(chosen_score(data)),
                 &across = data.quantities.find(data.request.speed);
  ReportRequest request;
  request.by = data.request.by;
  request.baseline = data.request.baseline;
  request.metrics = {across.name, up.name};
  const Report report = make_report(data.frame, request);
  // Costs and rates are shown as ratios to the baseline where there is one.
  const bool ratio =
      across.compare != Quantity::Compare::difference &&
      std::any_of(report.groups.begin(), report.groups.end(),
                  [](const Report::Group& g) { return g.cells[0].versus.has_value(); });
  struct Point {
    Estimate x, y;
  };
  std::vector<Point> points;
  std::vector<std::string> names;
  int prompts = 0;
  for (const Report::Group& group : report.groups) {
    const auto& versus = group.cells[0].versus;
    points.push_back({!ratio   ? group.cells[0].value
                      : versus ? versus->ratio
                               : Estimate{1, {1, 1}},
                      group.cells[1].value});
    names.push_back(short_name(group.name));
    prompts = std::max(prompts, group.cells[1].prompts);
  }
  if (std::none_of(points.begin(), points.end(), [](const Point& p) {
        return std::isfinite(p.x.value) && std::isfinite(p.y.value);
      })) {
    throw DataError("the figure 'pareto' shows " + up.name + " against " + across.name +
                    ", and no arm has both; choose others with --score and --speed");
  }
  const int x_better = ratio ? 1 : across.better, y_better = up.better == 0 ? 1 : up.better;
  std::vector<Point> front;
  for (const Point& a : points) {
    const auto good = [&](const Point& p) {
      return std::pair(x_better * p.x.value, y_better * p.y.value);
    };
    const auto [ax, ay] = good(a);
    const bool beaten = std::any_of(points.begin(), points.end(), [&](const Point& b) {
      const auto [bx, by] = good(b);
      return bx >= ax && by >= ay && (bx > ax || by > ay);
    });
    if (!beaten && std::isfinite(ax) && std::isfinite(ay)) front.push_back(a);
  }
  std::sort(front.begin(), front.end(),
            [](const Point& a, const Point& b) { return a.x.value < b.x.value; });

  std::string table, stairs = "# the Pareto front\n";
  for (std::size_t i = 0; i < points.size(); ++i) {
    table += (i ? "\n\n" : "") + std::string("# ") + names[i] + "\n# x low high  y low high\n";
    table += estimate_text(bounded(points[i].x)) + " " + estimate_text(bounded(points[i].y)) + "\n";
  }
  for (const Point& p : front)
    stairs += number_text(p.x.value) + " " + number_text(p.y.value) + "\n";

  // Symbols repeat after a while: then each point carries its number in the legend.
  const bool numbered = points.size() > kMostSymbols;
  std::string labels;
  for (std::size_t i = 0; numbered && i < points.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    names[i] = number + "  " + names[i];
    if (!std::isfinite(points[i].x.value) || !std::isfinite(points[i].y.value)) continue;
    labels += "set label '" + number + "' at " + number_text(points[i].x.value) + "," +
              number_text(points[i].y.value) + " left offset 0.6,0.4 font ',8'\n";
  }

  Sheet sheet("pareto",
              {.columns = 1, .rows = 1, .panel_width = 760, .panel_height = 440, .left = 80});
  sheet.legend(names);
  sheet.data("pareto.dat", table);
  sheet.data("pareto_front.dat", stairs);
  const bool shares = std::all_of(points.begin(), points.end(),
                                  [](const Point& p) { return !(p.y.value < 0 || p.y.value > 1); });
  std::string commands =
      labels +
      std::string(shares ? "set yrange [0:1.03]\nset offsets graph 0.05, graph 0.05, 0, 0"
                         : "set offsets graph 0.05, graph 0.05, graph 0.08, graph 0.08") +
      "\nplot 'pareto_front.dat' using 1:2 with lines lc rgb '#888888' dt 2 lw 1.2";
  for (std::size_t i = 0; i < points.size(); ++i) {
    commands += ", \\\n  'pareto.dat' index " + std::to_string(i) +
                " using 1:4:2:3:5:6 with xyerrorbars " + line_style(i) + " ps 1.2 lw 1.3";
  }
  const auto direction = [](int better) {
    return better > 0 ? " (more is better)" : better < 0 ? " (less is better)" : "";
  };
  const std::string x_label =
      ratio ? (across.compare == Quantity::Compare::cost ? "times fewer: " : "times more: ") +
                  across.title
            : across.title;
  sheet.panel(up.title + " against speed", x_label + (ratio ? "" : direction(across.better)),
              up.title + direction(up.better), commands);
  const std::string against =
      ratio
          ? " Ratios are of sums, against " +
                report.groups[static_cast<std::size_t>(std::max(0, report.groups.front().baseline))]
                    .name +
                ", paired by prompt."
          : "";
  return sheet.picture("Dashed: the Pareto front." + against + " " +
                       sampling_note(data, static_cast<std::size_t>(prompts),
                                     "bars: 95 % intervals from resampled prompts, pointwise"));
}

}  // namespace draftlab
