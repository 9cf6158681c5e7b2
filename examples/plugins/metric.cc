// A metric: what a report computes of a trace. This one counts the drafts of a sample that came to
// nothing.
#include "analysis/metrics/metric.h"

#include "analysis/metrics/samples.h"
#include "core/config/plugin.h"

namespace {

draftlab::Measured wasted(const draftlab::Samples& samples) {
  std::vector<double> drafts;
  for (const draftlab::AcceptanceSums& sums : samples.acceptance())
    drafts.push_back(static_cast<double>(sums.drafted - sums.accepted));
  return draftlab::Measured::mean_of(std::move(drafts));
}

class Wasted final : public draftlab::MetricFamily {
 public:
  std::vector<draftlab::Metric> metrics(const draftlab::Samples&) const override {
    return {{.name = "wasted",
             .title = "wasted drafts",
             .unit = "1",
             .doc = "drafts of verified steps that were not accepted, a sample",
             .compare = draftlab::Metric::Compare::cost,
             .better = -1,
             .digits = 1,
             .measure = wasted}};
  }
};

}  // namespace

DRAFTLAB_SHARED_PLUGIN() {
  registries.metrics.add<Wasted>("wasted", "drafts that were not accepted");
}
