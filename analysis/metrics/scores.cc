// What the task scored: a metric for each score that it gave.
#include <sstream>

#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"
#include "core/config/config_lines.h"

namespace draftlab {
namespace {

// Says whether a trace's config calls a score an error ([report] errors): less of it is better.
bool is_error(const Frame& frame, const std::string& score) {
  for (const Frame::File& file : frame.files()) {
    const auto found = file.config.find("report.errors");
    if (found == file.config.end()) continue;
    std::istringstream names(found->second);
    for (std::string name; std::getline(names, name, ',');)
      if (trimmed(name) == score) return true;
  }
  return false;
}

class Scores final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples& samples) const override {
    std::vector<Metric> list;
    for (const std::string& score : samples.plain_scores()) {
      list.push_back(
          {.name = score,
           .title = score,
           .unit = "1",
           .doc = "the task's score `" + score + "`, a sample",
           .better = is_error(samples.frame(), score) ? -1 : 1,
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
