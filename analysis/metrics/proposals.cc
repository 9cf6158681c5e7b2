// Of vector tokens: how replacements of rejected drafts were found.
#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

std::vector<double> rejected(const Samples& samples) {
  std::vector<double> rejected = samples.trials().judged;
  for (std::size_t i = 0; i < rejected.size(); ++i) rejected[i] -= samples.trials().accepted[i];
  return rejected;
}

class Proposals final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {{.name = "proposals",
             .title = "proposals",
             .unit = "1",
             .doc = "of vector tokens: draws of the target until one replaced a rejected draft",
             .compare = Metric::Compare::difference,
             .better = -1,
             .digits = 2,
             .measure =
                 [](const Samples& s) {
                   return Measured::ratio_of(s.trials().proposals, rejected(s));
                 }},
            {.name = "proposals_per_trial",
             .title = "proposals/trial",
             .unit = "1",
             .doc = "the same, a judged draft; 1 in the mean where the residual is the target's",
             .compare = Metric::Compare::difference,
             .better = 0,
             .digits = 3,
             .measure =
                 [](const Samples& s) {
                   return Measured::ratio_of(s.trials().proposals, s.trials().judged);
                 }},
            {.name = "capped",
             .title = "capped",
             .unit = "1",
             .doc = "share of the rejected drafts whose replacement was not found in "
                    "verifier.density.cap draws",
             .compare = Metric::Compare::difference,
             .better = -1,
             .digits = 4,
             .share = true,
             .measure = [](const Samples& s) {
               return Measured::ratio_of(s.trials().capped, rejected(s));
             }}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(proposals) {
  metrics.add<draftlab::Proposals>("proposals", "draws of the residual");
}
