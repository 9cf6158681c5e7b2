// The entropy of the token frequencies of a text.
#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

class EntropyBits final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {{.name = "entropy_bits",
             .title = "entropy, bits",
             .unit = "bit",
             .doc = "Shannon entropy of the token frequencies of a text",
             .compare = Metric::Compare::difference,
             .better = 0,
             .digits = 3,
             .margin = "margin_entropy",
             .measure = [](const Samples& s) {
               return Measured::mean_of(s.column("sample_entropy_bits"));
             }}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(entropy_bits) {
  metrics.add<draftlab::EntropyBits>("entropy_bits", "entropy of the text");
}
