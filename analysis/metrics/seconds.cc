// Wall times: of a decode, inside the target, outside the models, and by kind of forward.
#include <cmath>

#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

// The time inside the target for some kinds of questions. Where a sample has no time of its own, as
// in a batch, its part of the target's is none either.
Measured of_kinds(const Samples& samples, const std::vector<std::string>& kinds) {
  std::vector<double> seconds = samples.counted("ns", kinds);
  const std::vector<double>& whole = samples.column("sample_seconds");
  for (std::size_t i = 0; i < seconds.size(); ++i)
    seconds[i] = std::isnan(whole[i]) ? kNotMeasured : 1e-9 * seconds[i];
  return Measured::mean_of(std::move(seconds));
}

class Seconds final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    std::vector<Metric> list = {
        {.name = "seconds",
         .title = "seconds",
         .unit = "s",
         .doc = "wall time of decoding a sample",
         .compare = Metric::Compare::cost,
         .better = -1,
         .digits = 4,
         .timing = true,
         .measure = [](const Samples& s) { return Measured::mean_of(s.column("sample_seconds")); }},
        {.name = "model_seconds",
         .title = "model s",
         .unit = "s",
         .doc = "wall time inside the target, a sample",
         .compare = Metric::Compare::cost,
         .better = -1,
         .digits = 4,
         .timing = true,
         .measure = [](const Samples& s) { return of_kinds(s, kForwards); }},
        {.name = "own_seconds",
         .title = "own s",
         .unit = "s",
         .doc = "wall time outside the models, a sample",
         .compare = Metric::Compare::cost,
         .better = -1,
         .digits = 4,
         .timing = true,
         .measure = [](const Samples& s) {
           return Measured::mean_of(s.column("sample_own_seconds"));
         }}};
    for (const std::string& kind : kKindNames) {
      list.push_back({.name = "seconds_" + kind,
                      .title = kind + " s",
                      .unit = "s",
                      .doc = "wall time inside the target for kind `" + kind + "`, a sample",
                      .compare = Metric::Compare::cost,
                      .better = -1,
                      .digits = 4,
                      .timing = true,
                      .measure = [kind](const Samples& s) { return of_kinds(s, {kind}); }});
    }
    return list;
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(seconds) { metrics.add<draftlab::Seconds>("seconds", "wall times"); }
