// Tokens a second of wall time.
#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

class TokensPerSecond final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {{.name = "tokens_per_second",
             .title = "tokens/s",
             .unit = "s-1",
             .doc = "generated tokens a second",
             .compare = Metric::Compare::rate,
             .better = 1,
             .digits = 1,
             .timing = true,
             .measure =
                 [](const Samples& s) {
                   return Measured::ratio_of(s.column("sample_generated"),
                                             s.column("sample_seconds"));
                 }},
            {.name = "valid_per_second",
             .title = "valid tokens/s",
             .unit = "s-1",
             .doc = "tokens before the first end token, a second",
             .compare = Metric::Compare::rate,
             .better = 1,
             .digits = 1,
             .timing = true,
             .measure = [](const Samples& s) {
               return Measured::ratio_of(s.column("sample_valid"), s.column("sample_seconds"));
             }}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(tokens_per_second) {
  metrics.add<draftlab::TokensPerSecond>("tokens_per_second", "tokens a second");
}
