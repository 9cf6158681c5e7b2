// How many tokens a sample has.
#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

class Generated final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {
        {.name = "generated",
         .title = "generated",
         .unit = "1",
         .doc = "tokens committed, a sample",
         .compare = Metric::Compare::difference,
         .better = 0,
         .digits = 1,
         .measure =
             [](const Samples& s) { return Measured::mean_of(s.column("sample_generated")); }},
        {.name = "valid",
         .title = "valid",
         .unit = "1",
         .doc = "generated tokens before the first end token, a sample",
         .compare = Metric::Compare::difference,
         .better = 0,
         .digits = 1,
         .measure = [](const Samples& s) { return Measured::mean_of(s.column("sample_valid")); }}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(generated) { metrics.add<draftlab::Generated>("generated", "tokens of a sample"); }
