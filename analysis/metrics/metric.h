// A metric: its name, its unit, its help and its computation. A metric is a few numbers a sample,
// and a table shows a statistic of their sums, mostly the ratio of two. So means, rates,
// perplexities, a corpus's BLEU and the distance of a set of images from held-out ones are treated
// alike, and resampling prompts means resampling their numbers.
//
// A file of this folder holds a family: one metric, or several that one computation makes. A shared
// library of plugins adds families of its own to Registries::metrics in the same way.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/config/registry.h"

namespace draftlab {

class Samples;

// The numbers of every sample of the frame, NaN where one was not measured. A ratio has two: the
// numerator and the denominator.
struct Measured {
  std::vector<std::vector<double>> columns;
  const std::vector<double>& above() const { return columns[0]; }
  const std::vector<double>& below() const { return columns[1]; }
  // Says whether the sample has every number.
  bool has(std::size_t sample) const;
  // Returns the mean of values, of which those that are NaN do not count.
  static Measured mean_of(std::vector<double> values);
  // Returns the ratio of two sums.
  static Measured ratio_of(std::vector<double> above, std::vector<double> below);
};

struct Metric {
  enum class Compare {
    cost,        // The ratio of sums baseline / arm: how many times less.
    rate,        // The ratio arm / baseline: how many times more.
    difference,  // The mean over prompts of arm - baseline.
  };
  // What the jackknife is for, in a statistic whose bias depends on how many samples there are:
  // nothing, its standard error alone, or the value, too, whose bias it removes.
  enum class Jackknife { none, error, value };

  std::string name, title, unit, doc;
  Compare compare = Compare::difference;
  // The value is 1 where more is better, and -1 where less is.
  int better = 0;
  int digits = 2;
  // Whether the value depends on the machine and on what else it did.
  bool timing = false;
  // Whether it says what became of drafts, which has to be open.
  bool of_drafts = false;
  // Whether it lies between 0 and 1.
  bool share = false;
  // The key of [report] that says what counts as equal; empty where no key does.
  std::string margin = {};
  // Whether the table shows exp of the ratio; arms are compared before that.
  bool exponential = false;
  // The result is NaN where the sums say nothing.
  double (*statistic)(std::span<const double> sums) = ratio;
  Jackknife jackknife = Jackknife::none;
  // Computes the numbers of all samples. It is called once, when the metric is first asked for.
  std::function<Measured(const Samples&)> measure;

  // Returns sums[0] / sums[1], where that is positive.
  static double ratio(std::span<const double> sums);
  // Says whether a prompt alone has a value, so that arms can be compared prompt by prompt.
  bool by_prompt() const { return statistic == ratio; }
};

class MetricFamily {
 public:
  virtual ~MetricFamily() = default;
  // Returns the metrics that these samples may have numbers of, in the order of their listing.
  virtual std::vector<Metric> metrics(const Samples& samples) const = 0;
};
using MetricRegistry = Registry<MetricFamily>;

// The metrics of this folder, which analysis/metrics/builtin.h lists.
void register_builtin_metrics(MetricRegistry& metrics);
const MetricRegistry& builtin_metrics();

}  // namespace draftlab

// Registers a family of this folder. NAME stands in analysis/metrics/builtin.h.
#define DRAFTLAB_METRICS(name)                                       \
  static void add_metrics_##name(draftlab::MetricRegistry& metrics); \
  void register_metrics_##name(draftlab::MetricRegistry& metrics);   \
  void register_metrics_##name(draftlab::MetricRegistry& metrics) {  \
    metrics.set_source(__FILE__);                                    \
    add_metrics_##name(metrics);                                     \
  }                                                                  \
  static void add_metrics_##name(draftlab::MetricRegistry& metrics)
