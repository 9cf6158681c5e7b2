// How much more the drafter believes in its drafts than the target does (S2D2).
#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

class ResidualEnergy final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {{.name = "residual_energy",
             .title = "residual energy",
             .unit = "nat",
             .doc = "log of the drafter's probability over the target's, a judged draft (S2D2, Eq. "
                    "8); drafts that the target cannot draw are left out",
             .compare = Metric::Compare::difference,
             .better = -1,
             .digits = 3,
             .measure =
                 [](const Samples& s) {
                   return Measured::ratio_of(s.trials().energy, s.trials().energy_drafts);
                 }},
            {.name = "residual_energy_step",
             .title = "residual energy/step",
             .unit = "nat",
             .doc = "the same in sum over the judged drafts of a verified step (S2D2, Eq. 7 up to "
                    "its constant)",
             .compare = Metric::Compare::difference,
             .better = -1,
             .digits = 3,
             .measure = [](const Samples& s) {
               return Measured::ratio_of(s.trials().energy, s.trials().energy_steps);
             }}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(residual_energy) {
  metrics.add<draftlab::ResidualEnergy>("residual_energy", "the drafter's excess of belief");
}
