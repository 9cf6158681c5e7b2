// Predicted speedup over the plane of a machine's bandwidth and arithmetic, from the counts of
// forwards and their widths. A forward takes the longer of reading the weights and of multiplying
// them with its rows, so a wide forward costs what a narrow one does where bandwidth is scarce.
#include <algorithm>
#include <cmath>

#include "analysis/figures/figures.h"
#include "analysis/frame/timing.h"
#include "analysis/report/baselines.h"
#include "analysis/report/forward_counts.h"
#include "core/base/error.h"
#include "core/base/table.h"

namespace draftlab {
namespace {

struct NamedMachine {
  const char* name;
  MachineSpeed speed;
  // By how many lines its label stands higher than its point, so that neighbours do not touch.
  double label_above;
};
// Data sheets: memory bandwidth, and dense bf16 (of the laptop, eight AVX2 cores with two channels
// of DDR5-5600, f32).
constexpr NamedMachine kMachines[] = {{"laptop", {90e9, 1e12}, 0},
                                      {"H100", {3.35e12, 989e12}, -0.6},
                                      {"H200", {4.8e12, 989e12}, 0.6}};

// The plane: GB/s and TFLOP/s, each from one power of ten to another, in so many cells a power.
constexpr int kCells = 6, kBandwidthFrom = -1, kBandwidthTo = 4, kFlopsFrom = -3, kFlopsTo = 4;
constexpr double kGiga = 1e9, kTera = 1e12;
// The colours end at so many times faster, and slower.
constexpr double kMostTimes = 4;
constexpr std::size_t kPanels = 6;

double power_of_ten(double exponent) { return std::pow(10.0, exponent); }

class Predictor {
 public:
  Predictor(const ForwardCounts& baseline, const ForwardCounts& arm)
      : baseline_(baseline), arm_(arm) {}
  double at(const MachineSpeed& machine) const {
    return baseline_.token_seconds(machine) / arm_.token_seconds(machine);
  }
  // As it was measured; NaN where it was not.
  double measured() const {
    return (baseline_.seconds / baseline_.tokens) / (arm_.seconds / arm_.tokens);
  }
  // The operations a byte at which the arm begins to win; NaN where it always or never does.
  double balance() const {
    double low = -4, high = 6;
    const auto wins = [&](double exponent) { return at({1, power_of_ten(exponent)}) > 1; };
    if (wins(low) || !wins(high)) return kNotMeasured;
    for (int i = 0; i < 50; ++i) {
      const double middle = (low + high) / 2;
      (wins(middle) ? high : low) = middle;
    }
    return power_of_ten(high);
  }

 private:
  const ForwardCounts &baseline_, &arm_;
};

// Every cell of the plane: its centre, its edges, and the speedup there.
std::string plane(const Predictor& predictor) {
  std::string table = "# GB/s, TFLOP/s, edges of both, speedup\n";
  for (int i = 0; i < kCells * (kBandwidthTo - kBandwidthFrom); ++i) {
    for (int j = 0; j < kCells * (kFlopsTo - kFlopsFrom); ++j) {
      const auto edge = [](int from, double cell) { return power_of_ten(from + cell / kCells); };
      const double x = edge(kBandwidthFrom, i + 0.5), y = edge(kFlopsFrom, j + 0.5);
      for (const double number : {x, y, edge(kBandwidthFrom, i), edge(kBandwidthFrom, i + 1),
                                  edge(kFlopsFrom, j), edge(kFlopsFrom, j + 1)})
        table += number_text(number) + " ";
      table += number_text(predictor.at({x * kGiga, y * kTera})) + "\n";
    }
  }
  return table;
}

std::string point(const MachineSpeed& speed, const std::string& label) {
  return number_text(speed.bandwidth / kGiga) + " " + number_text(speed.flops / kTera) + " \"" +
         label + "\"\n";
}

// The arms that are shown: all, or those with the greatest speedup over the baseline, in the mean
// of the named machines (a geometric one).
std::vector<std::size_t> best_of(const std::vector<ForwardCounts>& groups, std::size_t baseline) {
  std::vector<std::size_t> arms;
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (g != baseline && groups[g].tokens > 0) arms.push_back(g);
  if (arms.size() <= kPanels) return arms;
  const auto gain = [&](std::size_t arm) {
    double sum = 0;
    for (const NamedMachine& machine : kMachines)
      sum += std::log(Predictor(groups[baseline], groups[arm]).at(machine.speed));
    return sum;
  };
  std::stable_sort(arms.begin(), arms.end(),
                   [&](std::size_t a, std::size_t b) { return gain(a) > gain(b); });
  arms.resize(kPanels);
  return arms;
}

// The points of one arm's panel: the named machines, the machine of the trace, and where the arm is
// as fast as the baseline.
void add_points(Sheet& sheet, const std::string& stem, const Predictor& predictor,
                const MachineSpeed& here) {
  std::string named = "# GB/s, TFLOP/s, name and predicted speedup\n";
  for (const NamedMachine& machine : kMachines)
    named += point(machine.speed,
                   std::string(machine.name) + " " + fixed(predictor.at(machine.speed), 2) + "x");
  sheet.data(stem + "_named.dat", named);
  if (const double balance = predictor.balance(); std::isfinite(balance)) {
    std::string line = "# as fast as the baseline\n";
    for (const double x : {power_of_ten(kBandwidthFrom), power_of_ten(kBandwidthTo)})
      line += number_text(x) + " " + number_text(x * kGiga * balance / kTera) + "\n";
    sheet.data(stem + "_even.dat", line);
  }
  if (!(here.bandwidth > 0)) return;
  const double measured = predictor.measured();
  sheet.data(stem + "_measured.dat",
             "# GB/s, TFLOP/s, measured and predicted speedup\n" +
                 point(here, (std::isfinite(measured) ? fixed(measured, 2) + "x " : "") + "(" +
                                 fixed(predictor.at(here), 2) + "x)"));
}

std::string panel_commands(const std::string& stem, bool even, bool measured) {
  std::string commands =
      "set logscale xy 10\nset xrange [0.1:1e4]\nset yrange [0.001:1e4]\nset xtics (0.1, 1, "
      "10, 100, 1000, '10k' 10000)\nset ytics (0.001, 0.01, 0.1, 1, 10, 100, 1000, '10k' "
      "10000)\nunset grid\nset logscale cb 2\nset cbrange [" +
      number_text(1 / kMostTimes) + ":" + number_text(kMostTimes) +
      "]\nset cbtics (0.25, 0.5, 1, 2, 4)\nset palette defined (0 '#B2182B', 0.5 '#F7F7F7', 1 "
      "'#2166AC')\nplot '" +
      stem + ".dat' using 1:2:3:4:5:6:7 with boxxyerror lc palette fs solid noborder";
  for (std::size_t m = 0; m < std::size(kMachines); ++m)
    commands += ", \\\n  '" + stem + "_named.dat' every ::" + std::to_string(m) +
                "::" + std::to_string(m) +
                " using 1:2:3 with labels font small tc rgb 'black' right offset -0.7," +
                number_text(kMachines[m].label_above) + " point lc rgb 'black' pt 7 ps 0.5";
  if (even) commands += ", \\\n  '" + stem + "_even.dat' using 1:2 with lines lc rgb 'black' lw 1";
  if (measured)
    commands += ", \\\n  '" + stem +
                "_measured.dat' using 1:2:3 with labels font small tc rgb 'black' left offset " +
                "0.7,0 point lc rgb 'black' pt 9 ps 0.7";
  return commands;
}

// Returns how many arms there are besides the baseline.
std::size_t checked(const std::vector<ForwardCounts>& groups, std::size_t baseline) {
  const auto arms = std::count_if(groups.begin(), groups.end(),
                                  [](const ForwardCounts& group) { return group.tokens > 0; });
  if (arms < 2 || !(groups[baseline].tokens > 0))
    throw DataError("the figure 'machine' compares arms, and these traces have one alone");
  for (const ForwardCounts& group : groups) {
    if (group.tokens > 0 && !(group.weights.parameters > 0))
      throw DataError(
          "the figure 'machine' needs the size of the model, and these traces do not "
          "say how many parameters it has");
  }
  return static_cast<std::size_t>(arms) - 1;
}

// What the arms of the panels gain on the cost surface that was given; "" without one.
std::string on_the_surface(const PlotData& data, const std::vector<std::size_t>& arms) {
  if (data.request.predicted.empty()) return "";
  ShownMetrics shown{"machine", {}, data.request.by};
  for (const std::string& name : data.request.predicted)
    shown.metrics.push_back(&data.quantities.find(name));
  const Report report = report_of(data, shown);
  const std::vector<std::string> names = data.names();
  std::string text = "On the cost surface, times fewer (";
  for (const Metric* const metric : shown.metrics) text += metric->title + "; ";
  text.replace(text.size() - 2, 2, "): ");
  for (const std::size_t arm : arms) {
    const auto group = std::find_if(
        report.groups.begin(), report.groups.end(),
        [&](const Report::Group& one) { return one.name == data.grouping.groups[arm].name; });
    if (group == report.groups.end()) continue;
    text += names[arm];
    for (const Metric* const metric : shown.metrics) {
      const Estimate factor = AxisQuantity{metric, true}.of(*group);
      text += " " + fixed(factor.value, 2) + "x [" + fixed(factor.interval.low, 2) + ", " +
              fixed(factor.interval.high, 2) + "],";
    }
    text.back() = ';';
    text += " ";
  }
  text.replace(text.size() - 2, 2, ". ");
  return text;
}

}  // namespace

Picture machine_figure(const PlotData& data) {
  const std::vector<ForwardCounts> groups = forward_counts(data.frame, data.grouping);
  const auto baseline =
      static_cast<std::size_t>(only_baseline(data.frame, data.grouping, data.request.baseline));
  const std::size_t others = checked(groups, baseline);
  const std::vector<std::size_t> arms = best_of(groups, baseline);
  const std::vector<std::string> names = data.names();
  const std::string refused = times_refused(data.frame);
  const MachineSpeed here = refused.empty() ? fitted_machine(data.frame, groups) : MachineSpeed{};
  Sheet sheet("machine", {.across = std::min<std::size_t>(arms.size(), 2),
                          .panel_height = 200,
                          .left = 46,
                          .right = 62,
                          .width = data.request.width});
  sheet.title("Speedup over " + names[baseline] +
              (others > arms.size() ? ": the " + std::to_string(arms.size()) + " best of " +
                                          std::to_string(others) + " arms, the best first"
                                    : ""));
  sheet.legend({{"named machine: predicted", "lc rgb '#000000' pt 7"},
                {"the machine of the trace: measured (predicted)", "lc rgb '#000000' pt 9"}});
  for (std::size_t a = 0; a < arms.size(); ++a) {
    const Predictor predictor(groups[baseline], groups[arms[a]]);
    const std::string stem = "machine_" + std::to_string(a + 1);
    sheet.data(stem + ".dat", plane(predictor));
    add_points(sheet, stem, predictor, here);
    sheet.panel(names[arms[a]], "memory bandwidth, GB/s", "arithmetic, TFLOP/s",
                panel_commands(stem, std::isfinite(predictor.balance()), here.bandwidth > 0));
  }
  const std::string machine =
      !refused.empty() ? times_note(refused) + " "
      : here.bandwidth > 0
          ? "The machine of the trace is the line through the times of its forwards: " +
                fixed(here.bandwidth / kGiga, 1) + " GB/s, " + fixed(here.flops / kTera, 3) +
                " TFLOP/s. "
          : "The times of the forwards do not show a machine. ";
  return sheet.picture(
      "Speedup over " + names[baseline] +
      ": each forward takes the longer of reading the weights and of two operations a parameter "
      "and position; caches, attention and the loop cost nothing. Line: as fast as " +
      names[baseline] + ". " + machine + on_the_surface(data, arms) +
      sampling_note(data, prompts_of(data), "no intervals"));
}

}  // namespace draftlab
