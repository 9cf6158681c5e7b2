// How many steps went to the verifier.
#include "analysis/metrics/metric.h"
#include "analysis/metrics/of_sums.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

class VerifiedShare final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {{.name = "verified_share",
             .title = "verified",
             .unit = "1",
             .doc = "share of the steps that went to the verifier",
             .compare = Metric::Compare::difference,
             .better = 0,
             .digits = 3,
             .share = true,
             .measure = [](const Samples& s) {
               return of_sums(
                   s, [](const AcceptanceSums& sum) { return sum.verified; },
                   [](const AcceptanceSums& sum) { return sum.steps; });
             }}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(verified_share) {
  metrics.add<draftlab::VerifiedShare>("verified_share", "verified steps");
}
