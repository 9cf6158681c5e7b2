// Local AR-ness as S2D2's code computes it.
#include "analysis/metrics/metric.h"
#include "analysis/metrics/samples.h"

namespace draftlab {
namespace {

// Samples of fewer than two tokens are left out. Edits are no commitments, and of a position that
// was taken back the first one counts.
Measured local_share(const Samples& samples) {
  std::vector<double> values(samples.size(), kNotMeasured);
  const auto visit = [&](const Frame::Block& block) {
    for (std::size_t i = 0; i < block.samples.size(); ++i) {
      SampleRow sample;
      sample.steps.resize(1);
      for (auto row = block.row_begin[block.step_begin[i]];
           row < block.row_begin[block.step_begin[i + 1]]; ++row) {
        if (block.rows[1][row] >= static_cast<double>(Source::edited)) continue;
        TokenRow token;
        token.position = static_cast<std::int32_t>(block.rows[0][row]);
        sample.steps.front().tokens.push_back(token);
      }
      const std::vector<std::int32_t> order = ranks(commit_order(sample));
      if (order.size() > 1) values[block.samples[i]] = local_ar_s2d2(order, kArWindow);
    }
  };
  samples.frame().walk({}, Table::token, {"token_position", "token_source"}, visit);
  return Measured::mean_of(std::move(values));
}

class ArLocalS2d2 final : public MetricFamily {
 public:
  std::vector<Metric> metrics(const Samples&) const override {
    return {{.name = "ar_local_s2d2",
             .title = "AR-ness local, S2D2",
             .unit = "1",
             .doc = "local AR-ness at k = 2 (S2D2's code), mean over samples",
             .compare = Metric::Compare::difference,
             .better = 0,
             .digits = 3,
             .share = true,
             .measure = local_share}};
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_METRICS(ar_local_s2d2) {
  metrics.add<draftlab::ArLocalS2d2>("ar_local_s2d2", "order of commitment, S2D2's code");
}
