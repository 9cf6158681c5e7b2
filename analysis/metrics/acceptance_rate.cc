// The share of drafted tokens that the verifier accepted.
#include "analysis/metrics/metric.h"
#include "analysis/metrics/of_sums.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

class AcceptanceRate final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {{.name = "acceptance_rate",
             .title = "acceptance",
             .unit = "1",
             .doc = "accepted / drafted in verified steps",
             .compare = Metric::Compare::difference,
             .better = 1,
             .digits = 3,
             .of_drafts = true,
             .share = true,
             .measure =
                 [](const Samples& s) {
                   return of_sums(
                       s, [](const AcceptanceSums& sum) { return sum.accepted; },
                       [](const AcceptanceSums& sum) { return sum.drafted; });
                 }},
            {.name = "drafts_acceptance_rate",
             .title = "acceptance, drafts",
             .unit = "1",
             .doc = "the same without drafts that are the target's own draws",
             .compare = Metric::Compare::difference,
             .better = 1,
             .digits = 3,
             .share = true,
             .measure = [](const Samples& s) {
               return of_sums(
                   s,
                   [](const AcceptanceSums& sum) { return sum.accepted - sum.structural_accepted; },
                   [](const AcceptanceSums& sum) { return sum.drafted - sum.structural_drafted; });
             }}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(acceptance_rate) {
  metrics.add<draftlab::AcceptanceRate>("acceptance_rate", "accepted drafts");
}
