// A corpus's BLEU.
#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"
#include "core/metrics/text_metrics.h"

namespace draftlab {
namespace {

Measured parts(const Samples& samples) {
  Measured parts;
  for (const char* const part : kBleuSums) parts.columns.push_back(samples.score(part));
  return parts;
}

class Bleu final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples& samples) const override {
    if (!samples.has_bleu()) return {};
    return {{.name = "bleu",
             .title = "BLEU",
             .unit = "1",
             .doc = "corpus BLEU-4 of all texts together, from sums of their matches and lengths",
             .compare = Metric::Compare::difference,
             .better = 1,
             .digits = 2,
             .margin = "margin_bleu",
             .statistic = bleu,
             .measure = parts}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(bleu) { metrics.add<draftlab::Bleu>("bleu", "corpus BLEU"); }
