// Batch rows and token positions that the target computed.
#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

class Rows final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {{.name = "rows",
             .title = "rows",
             .unit = "1",
             .doc = "batch rows of the target, a sample",
             .compare = Metric::Compare::cost,
             .better = -1,
             .digits = 1,
             .measure =
                 [](const Samples& s) { return Measured::mean_of(s.counted("rows", kForwards)); }},
            {.name = "states",
             .title = "states",
             .unit = "1",
             .doc = "states of the whole canvas that the target computed, a sample: rows of one "
                    "evaluation count each",
             .compare = Metric::Compare::cost,
             .better = -1,
             .digits = 1,
             .measure =
                 [](const Samples& s) { return Measured::mean_of(s.counted("rows", kForwards)); }},
            {.name = "positions",
             .title = "positions",
             .unit = "1",
             .doc = "token positions that the target computed, a sample",
             .compare = Metric::Compare::cost,
             .better = -1,
             .digits = 0,
             .measure = [](const Samples& s) {
               return Measured::mean_of(s.counted("positions", kForwards));
             }}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(rows) { metrics.add<draftlab::Rows>("rows", "batch rows and positions"); }
