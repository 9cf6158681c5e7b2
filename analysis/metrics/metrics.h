// The metrics of some traces, with their numbers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"
#include "core/base/author.h"

namespace draftlab {

class Metrics {
 public:
  // Both outlive this object.
  explicit Metrics(const Frame& frame, const MetricRegistry& known = builtin_metrics());
  const Samples& samples() const { return samples_; }
  const std::vector<Metric>& all() const { return all_; }
  // Throws UsageError with a suggestion when there is none of that name.
  const Metric& find(const std::string& name) const;
  // Returns the metric's numbers. Blames its family when these are not one a sample.
  const Measured& of(const Metric& metric) const;
  // Says whether some sample that counts has a number of it, and whether that is not zero
  // somewhere.
  bool measured(const Metric& metric) const;
  bool spent(const std::string& name) const;
  // Returns the metrics a reader wants to see first, of those that were measured.
  std::vector<std::string> usual() const;

 private:
  Samples samples_;
  std::vector<Metric> all_;
  // Whose metrics they are, by their names.
  std::map<std::string, Author> authors_;
  mutable std::map<std::string, Measured> measured_;
};

}  // namespace draftlab
