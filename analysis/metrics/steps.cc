// Turns of the loop, and what one commits.
#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

class Steps final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {
        {.name = "steps",
         .title = "steps",
         .unit = "1",
         .doc = "turns of the loop, a sample",
         .compare = Metric::Compare::cost,
         .better = -1,
         .digits = 1,
         .measure = [](const Samples& s) { return Measured::mean_of(s.column("sample_n_steps")); }},
        {.name = "tokens_per_step",
         .title = "tokens/step",
         .unit = "1",
         .doc = "generated tokens a step",
         .compare = Metric::Compare::rate,
         .better = 1,
         .digits = 2,
         .measure = [](const Samples& s) {
           return Measured::ratio_of(s.column("sample_generated"), s.column("sample_n_steps"));
         }}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(steps) { metrics.add<draftlab::Steps>("steps", "steps of the loop"); }
