// What it costs a target to take rejected drafts back, as its way of doing so is declared.
#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

class RollbackCost final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {
        {.name = "kept_bytes",
         .title = "bytes kept/step",
         .unit = "byte",
         .doc = "bytes of states that the target keeps so that drafts can be taken back, a step",
         .compare = Metric::Compare::cost,
         .better = -1,
         .digits = 0,
         .measure =
             [](const Samples& s) {
               return Measured::ratio_of(s.column("sample_kept_bytes"), s.column("sample_n_steps"));
             }},
        {.name = "rerun",
         .title = "run again/step",
         .unit = "1",
         .doc = "token positions that the target computes again to take drafts back, a step",
         .compare = Metric::Compare::difference,
         .better = -1,
         .digits = 2,
         .measure = [](const Samples& s) {
           return Measured::ratio_of(s.column("sample_rerun"), s.column("sample_n_steps"));
         }}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(rollback) {
  metrics.add<draftlab::RollbackCost>("rollback", "what taking drafts back costs");
}
