// The share of judged drafts that were accepted.
#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

class TrialAcceptance final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {{.name = "trial_acceptance",
             .title = "acceptance, trials",
             .unit = "1",
             .doc = "accepted / judged drafts, those that came behind a rejection and the target's "
                    "own draws left out",
             .compare = Metric::Compare::difference,
             .better = 1,
             .digits = 3,
             .share = true,
             .measure = [](const Samples& s) {
               return Measured::ratio_of(s.trials().accepted, s.trials().judged);
             }}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(trial_acceptance) {
  metrics.add<draftlab::TrialAcceptance>("trial_acceptance", "accepted trials");
}
