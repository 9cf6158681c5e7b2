// How far a verified step gets.
#include "analysis/metrics/metric.h"
#include "analysis/metrics/of_sums.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

class AcceptedLength final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {{.name = "accepted_length",
             .title = "accepted length",
             .unit = "1",
             .doc = "accepted prefix of a verified step, without the replacement token",
             .compare = Metric::Compare::difference,
             .better = 1,
             .digits = 2,
             .of_drafts = true,
             .measure =
                 [](const Samples& s) {
                   return of_sums(
                       s, [](const AcceptanceSums& sum) { return sum.accepted; },
                       [](const AcceptanceSums& sum) { return sum.verified; });
                 }},
            {.name = "committed_length",
             .title = "committed length",
             .unit = "1",
             .doc = "tokens that a verified step commits",
             .compare = Metric::Compare::difference,
             .better = 1,
             .digits = 2,
             .measure = [](const Samples& s) {
               return of_sums(
                   s, [](const AcceptanceSums& sum) { return sum.verified_committed; },
                   [](const AcceptanceSums& sum) { return sum.verified; });
             }}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(accepted_length) {
  metrics.add<draftlab::AcceptedLength>("accepted_length", "lengths of verified steps");
}
