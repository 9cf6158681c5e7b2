// Function evaluations of the target and of a draft model, in all and by their kind.
#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

class Forwards final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    std::vector<Metric> list = {
        {.name = "nfe",
         .title = "NFE",
         .unit = "1",
         .doc = "function evaluations of the target, a sample",
         .compare = Metric::Compare::cost,
         .better = -1,
         .digits = 1,
         .measure = [](const Samples& s) { return Measured::mean_of(s.forwards()); }},
        {.name = "nfe_per_valid",
         .title = "NFE/valid token",
         .unit = "1",
         .doc = "function evaluations of the target, a token before the first end token",
         .compare = Metric::Compare::cost,
         .better = -1,
         .digits = 3,
         .measure =
             [](const Samples& s) {
               return Measured::ratio_of(s.forwards(), s.column("sample_valid"));
             }},
        {.name = "drafter_nfe",
         .title = "draft model NFE",
         .unit = "1",
         .doc = "function evaluations of the draft model, a sample",
         .compare = Metric::Compare::cost,
         .better = -1,
         .digits = 1,
         .measure = [](const Samples& s) {
           return Measured::mean_of(s.counted("nfe", kForwards, "drafter_"));
         }}};
    for (const std::string& kind : kKindNames) {
      list.push_back({.name = "nfe_" + kind,
                      .title = kind + " NFE",
                      .unit = "1",
                      .doc = "function evaluations of the target of kind `" + kind + "`, a sample",
                      .compare = Metric::Compare::cost,
                      .better = -1,
                      .digits = 1,
                      .measure = [kind](const Samples& s) {
                        return Measured::mean_of(s.counted("nfe", {kind}));
                      }});
    }
    return list;
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(forwards) { metrics.add<draftlab::Forwards>("forwards", "function evaluations"); }
