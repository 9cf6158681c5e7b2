// The mean of the perplexities of single texts, as papers print it, and its error.
#include <algorithm>
#include <cmath>

#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

std::vector<double> of_each(const Samples& samples) {
  std::vector<double> each = samples.column("sample_judge_nll");
  const std::vector<double>& tokens = samples.column("sample_judge_tokens");
  for (std::size_t i = 0; i < each.size(); ++i)
    each[i] = tokens[i] > 0 ? std::exp(each[i] / tokens[i]) : kNotMeasured;
  return each;
}

// The perplexity of each text, its square, and 1.
Measured moments(const Samples& samples) {
  Measured moments = Measured::mean_of(of_each(samples));
  std::vector<double> squares;
  for (const double value : moments.above()) squares.push_back(value * value);
  moments.columns.insert(moments.columns.begin() + 1, std::move(squares));
  return moments;
}

double standard_error(std::span<const double> sums) {
  if (sums[2] < 2) return kNotMeasured;
  const double mean = sums[0] / sums[2],
               variance = std::max(0.0, sums[1] - sums[0] * mean) / (sums[2] - 1);
  return std::sqrt(variance / sums[2]);
}

class PerplexityMean final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {{.name = "perplexity_mean",
             .title = "perplexity, mean of texts",
             .unit = "1",
             .doc = "mean over texts of exp of a text's judge nats a token, as papers print it",
             .compare = Metric::Compare::difference,
             .better = -1,
             .digits = 2,
             .measure = [](const Samples& s) { return Measured::mean_of(of_each(s)); }},
            {.name = "perplexity_error",
             .title = "its standard error",
             .unit = "1",
             .doc = "standard deviation of the texts' perplexities over the root of their number",
             .compare = Metric::Compare::difference,
             .better = -1,
             .digits = 2,
             .statistic = standard_error,
             .measure = moments}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(perplexity_mean) {
  metrics.add<draftlab::PerplexityMean>("perplexity_mean", "mean perplexity of texts");
}
