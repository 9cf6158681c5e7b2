#include "analysis/report/training_table.h"

#include <cmath>
#include <map>

#include "analysis/frame/trainings.h"
#include "core/base/error.h"
#include "core/trace/curves.h"

namespace draftlab {
namespace {

// One quantity of all trainings; without rows where none measured it.
TextTable table_of(const std::vector<Curves>& trainings, double ValidationRow::*quantity) {
  TextTable table;
  std::map<std::int64_t, std::vector<double>> by_step;
  for (std::size_t i = 0; i < trainings.size(); ++i) {
    for (const ValidationRow& row : trainings[i].validations) {
      if (!std::isfinite(row.*quantity)) continue;
      std::vector<double>& values = by_step[row.step];
      values.resize(trainings.size(), kNotMeasured);
      values[i] = row.*quantity;
    }
  }
  for (const auto& [step, values] : by_step) {
    std::vector<std::string> cells = {std::to_string(step)};
    for (const double value : values) cells.push_back(fixed(value, 3));
    table.rows.push_back(cells);
  }
  return table;
}

}  // namespace

std::string training_tables(const std::vector<std::string>& paths, TableForm form) {
  std::vector<Curves> trainings;
  std::vector<std::string> header = {"step"};
  for (const std::string& path : paths) {
    trainings.push_back(read_curves(path));
    header.push_back(training_name(path));
  }
  std::string text;
  for (const TrainingMeasure& measure : training_measures()) {
    if (!measure.validation) continue;
    TextTable table = table_of(trainings, measure.validation);
    if (table.rows.empty()) continue;
    table.header = header;
    text +=
        (text.empty() ? "" : "\n") + measure.title + ", " + measure.unit + "\n" + table.in(form);
  }
  if (text.empty()) throw DataError("'{}' holds no validation of a training", paths.front());
  return text;
}

}  // namespace draftlab
