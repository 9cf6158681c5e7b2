// Tokens a function evaluation of the target.
#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

class TokensPerForward final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {{.name = "tokens_per_forward",
             .title = "tokens/NFE",
             .unit = "1",
             .doc = "generated tokens a function evaluation of the target",
             .compare = Metric::Compare::rate,
             .better = 1,
             .digits = 2,
             .measure =
                 [](const Samples& s) {
                   return Measured::ratio_of(s.column("sample_generated"), s.forwards());
                 }},
            {.name = "valid_per_forward",
             .title = "valid tokens/NFE",
             .unit = "1",
             .doc = "the same of tokens before the first end token",
             .compare = Metric::Compare::rate,
             .better = 1,
             .digits = 2,
             .measure = [](const Samples& s) {
               return Measured::ratio_of(s.column("sample_valid"), s.forwards());
             }}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(tokens_per_forward) {
  metrics.add<draftlab::TokensPerForward>("tokens_per_forward", "tokens a forward");
}
