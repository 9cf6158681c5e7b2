// The likelihood of the texts under the judge, over all their tokens.
#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

// A text of which the judge scored no token says nothing.
Measured nats(const Samples& samples) {
  Measured nats =
      Measured::ratio_of(samples.column("sample_judge_nll"), samples.column("sample_judge_tokens"));
  for (std::size_t i = 0; i < nats.below().size(); ++i)
    if (nats.below()[i] == 0) nats.columns[0][i] = nats.columns[1][i] = kNotMeasured;
  return nats;
}

class Perplexity final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {{.name = "perplexity",
             .title = "judge perplexity",
             .unit = "1",
             .doc = "exp of judge nats a token",
             .compare = Metric::Compare::difference,
             .better = -1,
             .digits = 2,
             .margin = "margin_nll",
             .exponential = true,
             .measure = nats},
            {.name = "nll",
             .title = "judge nats/token",
             .unit = "nat",
             .doc = "negative log-likelihood under the judge, a token",
             .compare = Metric::Compare::difference,
             .better = -1,
             .digits = 4,
             .margin = "margin_nll",
             .measure = nats}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(perplexity) {
  metrics.add<draftlab::Perplexity>("perplexity", "likelihood under the judge");
}
