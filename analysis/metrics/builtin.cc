#include "analysis/metrics/builtin.h"

#include "analysis/metrics/metric.h"

#define DRAFTLAB_DECLARE_METRICS(name) void register_metrics_##name(draftlab::MetricRegistry&);
DRAFTLAB_BUILTIN_METRICS(DRAFTLAB_DECLARE_METRICS)
#undef DRAFTLAB_DECLARE_METRICS

namespace draftlab {

void register_builtin_metrics(MetricRegistry& metrics) {
#define DRAFTLAB_CALL_METRICS(name) register_metrics_##name(metrics);
  DRAFTLAB_BUILTIN_METRICS(DRAFTLAB_CALL_METRICS)
#undef DRAFTLAB_CALL_METRICS
  metrics.set_source("");
}

const MetricRegistry& builtin_metrics() {
  static const MetricRegistry metrics = [] {
    MetricRegistry made("metric");
    register_builtin_metrics(made);
    return made;
  }();
  return metrics;
}

}  // namespace draftlab
