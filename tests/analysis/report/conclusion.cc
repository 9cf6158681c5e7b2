#include "analysis/report/conclusion.h"

#include <doctest/doctest.h>

namespace draftlab {
namespace {

struct Ratios {
  Interval nfe, seconds;  // Their ends; the values lie between.
};

ReportCell against(const Interval& ends) {
  ReportCell cell;
  cell.versus = Versus{};
  cell.versus->ratio = {(ends.low + ends.high) / 2, ends};
  return cell;
}

// A baseline and arms a, b, ... with these ratios.
Report report_of(const std::vector<Ratios>& arms) {
  Report report;
  report.groups.push_back({.name = "stepwise", .keys = {}, .arms = {0}, .baseline = 0});
  report.groups[0].cells = {{"nfe", {}}, {"seconds", {}}};
  for (std::size_t i = 0; i < arms.size(); ++i) {
    report.groups.push_back({.name = std::string(1, static_cast<char>('a' + i)),
                             .keys = {},
                             .arms = {static_cast<int>(i) + 1},
                             .baseline = 0});
    report.groups.back().cells = {{"nfe", against(arms[i].nfe)},
                                  {"seconds", against(arms[i].seconds)}};
  }
  return report;
}

}  // namespace

TEST_CASE(
    "a run's conclusion is of the arm with the fewest evaluations, and says what time it took") {
  CHECK(conclusion(report_of({})) == "");
  CHECK(conclusion(report_of({{{1.5, 2.0}, {1.2, 1.4}}, {{1.1, 1.2}, {2.0, 3.0}}})) ==
        "a needed 1.75 times fewer function evaluations than stepwise, in 1.30 times less time.");
  CHECK(conclusion(report_of({{{1.1, 1.2}, {2.0, 3.0}}, {{1.5, 2.0}, {0.7, 0.9}}})) ==
        "b needed 1.75 times fewer function evaluations than stepwise, but took 1.25 times as long "
        "on this machine.");
  CHECK(
      conclusion(report_of({{{1.5, 2.0}, {0.9, 1.1}}})) ==
      "a needed 1.75 times fewer function evaluations than stepwise; whether that saves time here "
      "is undecided.");
  CHECK(conclusion(report_of({{{0.9, 1.4}, {1.1, 1.2}}})) ==
        "No arm is shown to need fewer function evaluations than stepwise.");
  // Times that may not be compared are not.
  Report refused = report_of({{{1.5, 2.0}, {0.7, 0.9}}});
  refused.times_refused = "another job ran beside";
  CHECK(conclusion(refused) == "a needed 1.75 times fewer function evaluations than stepwise.");
  // Of a decoder of vectors states are counted.
  Report images = report_of({{{1.5, 2.0}, {1.2, 1.4}}, {{1.1, 1.2}, {2.0, 3.0}}});
  for (Report::Group& group : images.groups) group.cells["states"] = {};
  images.groups[1].cells["states"] = against({0.4, 0.6});
  images.groups[2].cells["states"] = against({1.3, 1.7});
  CHECK(conclusion(images) ==
        "b needed 1.50 times fewer computed states than stepwise, in 2.50 times less time.");
  // One prompt has no interval, so nothing is shown.
  CHECK(conclusion(report_of({{{kNotMeasured, kNotMeasured}, {1, 1}}})) == "");
}

}  // namespace draftlab
