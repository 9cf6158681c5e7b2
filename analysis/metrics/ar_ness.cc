// How far the order of commitment goes from left to right (DiffuCoder).
#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

// The mean over tokens of what the trace has as a mean for each sample.
Measured of_tokens(const Samples& samples, const char* column) {
  Measured mean = Measured::ratio_of(samples.column(column), samples.column("sample_generated"));
  for (std::size_t i = 0; i < mean.below().size(); ++i) mean.columns[0][i] *= mean.below()[i];
  return mean;
}

class ArNess final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {{.name = "ar_local",
             .title = "AR-ness local",
             .unit = "1",
             .doc = "local AR-ness at k = 2 (DiffuCoder), a token",
             .compare = Metric::Compare::difference,
             .better = 0,
             .digits = 3,
             .share = true,
             .measure = [](const Samples& s) { return of_tokens(s, "sample_ar_local"); }},
            {.name = "ar_global",
             .title = "AR-ness global",
             .unit = "1",
             .doc = "global AR-ness at k = 2, a token",
             .compare = Metric::Compare::difference,
             .better = 0,
             .digits = 3,
             .share = true,
             .measure = [](const Samples& s) { return of_tokens(s, "sample_ar_global"); }}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(ar_ness) { metrics.add<draftlab::ArNess>("ar_ness", "order of commitment"); }
