// Turns of the loop, and what one commits.
#include <algorithm>

#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

// The steps of each sample. Token after token, a step is a forward: a turn of the loop may draft
// several tokens so, one forward each, and commits them all. An imported trace has a turn for the
// prefill, which commits a token, too.
std::vector<double> steps_of(const Samples& s) {
  std::vector<double> steps = s.column("sample_n_steps");
  const std::vector<double> forwards = s.counted("nfe", {"draft", "verify", "commit"});
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (s.frame().arms()[static_cast<std::size_t>(s.frame().samples()[i].arm)].run.sequential)
      steps[i] = std::max(steps[i], forwards[i]);
  return steps;
}

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
         .doc =
             "generated tokens a step, which is a forward where an arm decodes token after token",
         .compare = Metric::Compare::rate,
         .better = 1,
         .digits = 2,
         .measure = [](const Samples& s) {
           return Measured::ratio_of(s.column("sample_generated"), steps_of(s));
         }}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(steps) { metrics.add<draftlab::Steps>("steps", "steps of the loop"); }
