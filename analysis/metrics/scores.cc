// What the task scored: a metric for each score that it gave.
#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

class Scores final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples& samples) const override {
    std::vector<Metric> list;
    const std::set<std::string> errors = samples.declared_errors();
    for (const std::string& score : samples.plain_scores()) {
      list.push_back(
          {.name = score,
           .title = score,
           .unit = "1",
           .doc = "the task's score `" + score + "`, a sample",
           .better = errors.count(score) > 0 ? -1 : 1,
           .digits = 3,
           .margin = "margin_score",
           .measure = [score](const Samples& s) { return Measured::mean_of(s.score(score)); }});
    }
    return list;
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(scores) { metrics.add<draftlab::Scores>("scores", "scores of the task"); }
