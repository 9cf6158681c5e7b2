// The Frechet distance of images from held-out ones.
#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"
#include "analysis/metrics/set_addends.h"
#include "core/metrics/image_metrics.h"

namespace draftlab {
namespace {

Measured addends(const Samples& samples) {
  return set_addends(samples, kImageFeature, frechet_addends);
}

class Frechet final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples& samples) const override {
    if (samples.numbered_scores(kImageFeature).empty()) return {};
    return {{.name = "frechet",
             .title = "Frechet distance",
             .unit = "1",
             .doc = "of the classifier's features of all images from held-out ones', in which "
                    "these have unit covariance; as of infinitely many images, by the jackknife",
             .compare = Metric::Compare::difference,
             .better = -1,
             .digits = 3,
             .margin = "margin_frechet",
             .statistic = frechet_distance,
             .jackknife = Metric::Jackknife::value,
             .measure = addends},
            {.name = "frechet_plain",
             .title = "Frechet distance, plain",
             .unit = "1",
             .doc = "the same with the bias of these many images, so never below zero",
             .compare = Metric::Compare::difference,
             .better = -1,
             .digits = 3,
             .margin = "margin_frechet",
             .statistic = frechet_distance,
             .jackknife = Metric::Jackknife::error,
             .measure = addends}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(frechet) {
  metrics.add<draftlab::Frechet>("frechet", "distance of images from held-out ones");
}
