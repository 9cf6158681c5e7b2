// Expected accepted prefix from entropy alone: a draft passes with probability exp(-H / log V), and the prefix is the sum of the
// running products (S2D2, Sec. 4.2).
#include <cmath>

#include "core/parts.h"
#include "plugins/builtin.h"

namespace draftlab {
namespace {

class Entropy final : public Estimator {
 public:
  double expected(const StepView& step) const override {
    double prefix = 0, survival = 1;
    for (Eigen::Index i = 0; i < step.entropy.size() && i < step.span.length; ++i) {
      survival *= std::exp(-step.entropy[i] / std::log(step.vocabulary));
      prefix += survival;
    }
    return prefix;
  }
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(entropy) { registries.estimators.add<draftlab::Entropy>("entropy", "a draft passes with probability exp(-H / log V)"); }
