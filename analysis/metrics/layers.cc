// The layers that forwards went through, as the model counted them.
#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

// A model that counts no layers is recorded with none.
Measured measured(const Samples& samples) {
  std::vector<double> layers = samples.column("sample_layers");
  for (double& sum : layers)
    if (sum == 0) sum = kNotMeasured;
  return Measured::mean_of(std::move(layers));
}

class Layers final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {
        {.name = "layers",
         .title = "layers",
         .unit = "1",
         .doc = "layers of the target that its forwards went through, a sample: fewer in a shallow "
                "draft than in any other forward; not known of a model that does not say",
         .compare = Metric::Compare::cost,
         .better = -1,
         .digits = 1,
         .measure = measured}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(layers) { metrics.add<draftlab::Layers>("layers", "layers gone through"); }
