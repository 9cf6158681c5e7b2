#include "analysis/report/aup.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "analysis/report/grouping.h"
#include "core/base/error.h"
#include "core/base/table.h"

namespace draftlab {
namespace {

constexpr double kLoss = 5;       // Points of accuracy that a setting may lose.
constexpr double kSteepness = 3;  // Of the weight of what was lost against the best method.

}  // namespace

double aup(std::span<const AupPoint> points, double best) {
  std::vector<AupPoint> curve(points.begin(), points.end());
  std::stable_sort(curve.begin(), curve.end(), [](const AupPoint& a, const AupPoint& b) {
    return a.parallelism < b.parallelism;
  });
  const double least = curve.front().accuracy - kLoss;
  if (curve.back().accuracy < least)
    throw DataError(
        "AUP is not defined where the most parallel setting has lost more than 5 points "
        "of accuracy against the least parallel one");
  std::erase_if(curve, [&](const AupPoint& point) { return point.accuracy < least; });
  const auto weighted = [&](const AupPoint& point) {
    return point.accuracy * std::min(1.0, std::exp(-kSteepness * (1 - point.accuracy / best)));
  };
  double area = curve.front().parallelism * curve.front().accuracy;
  for (std::size_t i = 1; i < curve.size(); ++i)
    area += (curve[i].parallelism - curve[i - 1].parallelism) *
            (weighted(curve[i]) + weighted(curve[i - 1])) / 2;
  return area;
}

std::string aup_table(const Frame& frame, const ReportRequest& request,
                      const std::string& accuracy) {
  if (request.by.empty())
    throw UsageError("--aup needs --by KEYS: the first names the method, the others its settings");
  const Metrics quantities(frame, *request.known);
  const Metric& score = quantities.find(accuracy);
  const Metric& parallelism = quantities.find("tokens_per_forward");
  const Grouping grouping(frame, request.by);
  const Pairing pairing(frame, grouping);
  std::map<std::string, std::vector<AupPoint>> methods;
  double best = 0;
  for (std::size_t g = 0; g < grouping.groups.size(); ++g) {
    const auto value = [&](const Metric& quantity) {
      std::vector<double> sums;
      for (const std::vector<double>& column :
           pairing.all(static_cast<int>(g), quantities.of(quantity)).columns)
        sums.push_back(std::accumulate(column.begin(), column.end(), 0.0));
      return quantity.statistic(sums);
    };
    const AupPoint point{value(parallelism), 100 * value(score)};
    if (std::isnan(point.accuracy) || std::isnan(point.parallelism)) continue;
    if (point.accuracy < 0 || point.accuracy > 100)
      throw UsageError("--aup {}: an accuracy lies between 0 and 1, and this is {} in {}", accuracy,
                       fixed(point.accuracy / 100, 3), grouping.groups[g].name);
    best = std::max(best, point.accuracy);
    methods[grouping.groups[g].keys.front()].push_back(point);
  }
  if (best == 0)
    throw DataError("--aup {}: no group has any, so there is nothing to weigh", accuracy);
  TextTable table{{request.by.front(), "settings", "best accuracy %", "tokens/NFE at most", "AUP"},
                  {}};
  std::string notes;
  for (const auto& [name, points] : methods) {
    double highest = 0, most = 0;
    for (const AupPoint& point : points) {
      highest = std::max(highest, point.accuracy);
      most = std::max(most, point.parallelism);
    }
    std::string area = "-";
    try {
      area = fixed(aup(points, best), 2);
    } catch (const DataError& error) {
      notes += "  " + name + ": " + error.what() + "\n";
    }
    table.rows.push_back(
        {name, std::to_string(points.size()), fixed(highest, 2), fixed(most, 2), area});
  }
  return table.print() + "\n" + notes +
         "  AUP: the area under accuracy over tokens a forward, weighted by what is lost against "
         "the best accuracy of this table; it changes when a better method is added.\n";
}

}  // namespace draftlab
