#include "analysis/metrics/set_addends.h"

#include <algorithm>
#include <cmath>

namespace draftlab {

Measured set_addends(const Samples& samples, std::string_view prefix,
                     std::vector<double> (*addends)(std::span<const double> scores)) {
  std::vector<const std::vector<double>*> parts;
  for (const std::string& part : samples.numbered_scores(prefix))
    parts.push_back(&samples.score(part));
  Measured measured;
  std::vector<double> values(parts.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::size_t k = 0; k < parts.size(); ++k) values[k] = (*parts[k])[i];
    const std::vector<double> of_sample = addends(values);
    measured.columns.resize(of_sample.size());
    const bool known =
        std::none_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
    for (std::size_t k = 0; k < of_sample.size(); ++k)
      measured.columns[k].push_back(known ? of_sample[k] : kNotMeasured);
  }
  return measured;
}

}  // namespace draftlab
