// Accepted drafts of those that the best rule would accept.
#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

class OfLimit final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {{.name = "of_limit",
             .title = "of limit",
             .unit = "1",
             .doc = "accepted drafts a draft that the best rule would accept, node by node "
                    "(trace.limits); above 1 where later drafts rescue earlier ones",
             .compare = Metric::Compare::difference,
             .better = 1,
             .digits = 3,
             .measure = [](const Samples& s) {
               return Measured::ratio_of(s.trials().limited, s.trials().limit);
             }}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(of_limit) {
  metrics.add<draftlab::OfLimit>("of_limit", "acceptance of its limit");
}
